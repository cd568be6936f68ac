/** The numbers, in one place. A deployment may override any of them, and a tenant those of `TenantPolicy`. */
export interface Policy {
  readonly tokens: {
    /** Seconds a field worker's access token lives. */
    readonly workerAccess: number;
    /** Seconds a citizen's access token lives. */
    readonly citizenAccess: number;
    /** Seconds our clocks may differ from another's. */
    readonly skew: number;
    /** How many verified tokens a node remembers. */
    readonly cacheSize: number;
  };
  readonly sessions: {
    readonly bound: SessionLife;
    readonly plain: SessionLife & {
      /** Seconds in which the parent of the newest refresh token still gives its successor. */
      readonly replay: number;
    };
    /** Whether a session without a key is accepted. */
    readonly allowPlain: boolean;
    /** Seconds a device token lives. */
    readonly device: number;
  };
  readonly password: {
    readonly minLength: number;
    /** Failures in a minute for one user from one address. */
    readonly perAddress: RatePolicy;
    /** Failures from one network, whoever they are about; ranges of a tenant and known devices are exempt. */
    readonly perNetwork: RatePolicy;
    /** Failures for one user, then a lock that doubles. */
    readonly perUser: LockPolicy;
    /** Failures of one known device of a user, then a lock that doubles. */
    readonly perDevice: LockPolicy;
    /** How many password checks may wait for a free core. */
    readonly queue: number;
  };
  readonly otp: {
    /** Seconds a code is good for. */
    readonly life: number;
    /** Wrong tries that burn a code. */
    readonly tries: number;
    /** Seconds within which nothing is sent again. */
    readonly resend: number;
    /** Messages to one recipient in a short time, and in a day. */
    readonly perRecipient: RatePolicy;
    readonly perRecipientDay: RatePolicy;
    /** Messages asked for from one network; ranges of a tenant are exempt. */
    readonly perNetwork: RatePolicy;
    /** Messages a tenant pays for. */
    readonly perTenant: RatePolicy;
    /** Of them, those to one dialling prefix: the calling code and three digits. */
    readonly perPrefix: RatePolicy;
    /** Wrong codes for one recipient, across codes. */
    readonly failures: LockPolicy;
    /** Tries from one network where no code is alive. */
    readonly strayPerNetwork: RatePolicy;
    /** Seconds a handle between two steps is good for. */
    readonly handle: number;
  };
  readonly nationalId: {
    /** Wrong dates for one ID number, known or not. */
    readonly failures: RatePolicy;
    /** Failures from one network; ranges of a tenant are exempt. */
    readonly perNetwork: RatePolicy;
    /** Sign-ins of one person: on each known device, and on all others together. */
    readonly perPerson: RatePolicy;
    /** A sweep: so many unknown numbers, and so large a share of them and the people who signed in. */
    readonly breaker: { readonly unknown: number; readonly percent: number; readonly window: number };
    /** Seconds a token lives that rests on knowledge alone. */
    readonly life: number;
  };
  readonly qr: {
    /** Seconds a token lives that rests on a card alone. */
    readonly life: number;
    /** Sign-ins with one card. */
    readonly perCard: RatePolicy;
    /** Refused cards from one network; ranges of a tenant are exempt. */
    readonly perNetwork: RatePolicy;
    /** Seconds a programme's own card is good for. */
    readonly cardLife: number;
  };
  readonly sync: {
    /** Pushes of one session. */
    readonly perSession: RatePolicy;
    /** What one person may send, and how many pages fetch. */
    readonly worker: SyncAllowance;
    readonly citizen: SyncAllowance;
    /** How often a worker is told that somebody has an identifier already: more is no registration but a search. */
    readonly takenPerWorker: RatePolicy;
    /** Batches that a node works on at once; the others wait, tenants in turn. */
    readonly parallel: number;
  };
  readonly revocation: {
    /** Seconds between polls. */
    readonly poll: number;
    /** Seconds after which a node must poll before it answers. */
    readonly stale: number;
    /** Seconds of database time that polls overlap, so that a late commit is seen. */
    readonly overlap: number;
  };
  readonly keys: {
    /** Seconds a signing key is used. */
    readonly life: number;
    /** Seconds a key is published before it is used. */
    readonly lead: number;
  };
  /** Seconds a DPoP nonce is handed out; it is accepted for one such span more. */
  readonly dpopNonce: number;
  readonly http: {
    readonly bodyLimit: number;
    readonly headersTimeout: number;
    readonly requestTimeout: number;
    /** Seconds a shutdown waits for what is in flight. */
    readonly grace: number;
  };
  readonly journal: {
    /** Seconds between seals. */
    readonly seal: number;
    /** Seconds between signed checkpoints. */
    readonly checkpoint: number;
  };
}

export interface RatePolicy {
  readonly limit: number;
  /** Seconds. */
  readonly window: number;
}

export interface SyncAllowance {
  readonly events: RatePolicy;
  readonly bytes: RatePolicy;
  readonly pulls: RatePolicy;
}

export interface SessionLife {
  /** Seconds without use after which the session ends. */
  readonly idle: number;
  /** Seconds after which it ends in any case. */
  readonly absolute: number;
}

export interface LockPolicy {
  readonly limit: number;
  /** Seconds of the first lock. */
  readonly lock: number;
  readonly maxLock: number;
  /** Seconds after the last failure when everything is forgotten. */
  readonly window: number;
}

/** What a tenant may set for itself: to be stricter or more patient than the deployment. */
export interface TenantPolicy {
  readonly tokens?: { readonly workerAccess?: number; readonly citizenAccess?: number };
  readonly sessions?: {
    readonly bound?: Partial<SessionLife>;
    readonly plain?: Partial<SessionLife>;
    readonly allowPlain?: boolean;
  };
  readonly password?: { readonly minLength?: number };
}

/** The longest an access token can live, whatever a deployment or a tenant sets. */
export const longestAccessSeconds = 2 * 3600;

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const mebibyte = 1024 * 1024;

export const defaultPolicy: Policy = {
  tokens: { workerAccess: 10 * minute, citizenAccess: 30 * minute, skew: 60, cacheSize: 50_000 },
  sessions: {
    bound: { idle: 35 * day, absolute: 90 * day },
    plain: { idle: 14 * day, absolute: 30 * day, replay: 30 },
    allowPlain: true,
    device: 180 * day,
  },
  password: {
    minLength: 15,
    perAddress: { limit: 5, window: minute },
    perNetwork: { limit: 100, window: 5 * minute },
    perUser: { limit: 10, lock: 30, maxLock: hour, window: day },
    perDevice: { limit: 10, lock: 30, maxLock: hour, window: day },
    queue: 64,
  },
  otp: {
    life: 10 * minute,
    tries: 5,
    resend: minute,
    perRecipient: { limit: 3, window: 10 * minute },
    perRecipientDay: { limit: 10, window: day },
    perNetwork: { limit: 25, window: 5 * minute },
    perTenant: { limit: 1000, window: hour },
    perPrefix: { limit: 400, window: hour },
    failures: { limit: 20, lock: hour, maxLock: day, window: 3 * day },
    strayPerNetwork: { limit: 100, window: 10 * minute },
    handle: 5 * minute,
  },
  nationalId: {
    failures: { limit: 5, window: day },
    perNetwork: { limit: 300, window: hour },
    perPerson: { limit: 30, window: hour },
    breaker: { unknown: 100, percent: 20, window: hour },
    life: 15 * minute,
  },
  qr: {
    life: 15 * minute,
    perCard: { limit: 60, window: hour },
    perNetwork: { limit: 300, window: hour },
    cardLife: 3 * 365 * day,
  },
  sync: {
    perSession: { limit: 1200, window: minute },
    worker: {
      events: { limit: 200_000, window: hour },
      bytes: { limit: 1024 * mebibyte, window: hour },
      pulls: { limit: 20_000, window: hour },
    },
    citizen: {
      events: { limit: 200, window: hour },
      bytes: { limit: 10 * mebibyte, window: hour },
      pulls: { limit: 1000, window: hour },
    },
    takenPerWorker: { limit: 100, window: hour },
    parallel: 2,
  },
  revocation: { poll: 1, stale: 4, overlap: 60 },
  keys: { life: 90 * day, lead: 10 * minute },
  dpopNonce: 5 * minute,
  http: { bodyLimit: 16 * 1024, headersTimeout: 10, requestTimeout: 15, grace: 20 },
  journal: { seal: 1, checkpoint: minute },
};
