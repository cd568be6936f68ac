import type { Bounds } from "./bounds.ts";

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

const range = (min: number, max: number) => ({ min, max });

const accessLife = { workerAccess: range(minute, hour), citizenAccess: range(minute, 2 * hour) };
const sessionLife = { idle: range(5 * minute, year), absolute: range(5 * minute, year) };
/** Never below 15 while the password is the only factor; never above 64, which everyone may rely on being accepted. */
const minLength = range(15, 64);
const lock = {
  limit: range(1, 1000),
  lock: range(1, day),
  maxLock: range(1, 7 * day),
  window: range(minute, 30 * day),
};

const rate = { limit: range(1, 100_000), window: range(1, 7 * day) };

/** Bytes: so many that the largest event fits. */
const syncAllowance = {
  events: { limit: range(1, 100_000_000), window: range(1, 7 * day) },
  bytes: { limit: range(1024 * 1024, 2 ** 40), window: range(1, 7 * day) },
  pulls: { limit: range(1, 100_000_000), window: range(1, 7 * day) },
};

/** How far a deployment may move each number of `Policy`: far enough to fit, not so far that a promise breaks. */
export const policyBounds = {
  tokens: { ...accessLife, skew: range(0, 60), cacheSize: range(0, 5_000_000) },
  sessions: {
    bound: sessionLife,
    plain: { ...sessionLife, replay: range(0, 5 * minute) },
    allowPlain: "flag",
    device: range(hour, 5 * year),
  },
  password: {
    minLength,
    perAddress: rate,
    perNetwork: rate,
    perUser: lock,
    perDevice: lock,
    queue: range(1, 10_000),
  },
  otp: {
    life: range(minute, 15 * minute),
    tries: range(1, 10),
    resend: range(10, 10 * minute),
    perRecipient: rate,
    perRecipientDay: rate,
    perNetwork: rate,
    perTenant: { limit: range(1, 10_000_000), window: range(minute, day) },
    perPrefix: { limit: range(1, 10_000_000), window: range(minute, day) },
    failures: { ...lock, limit: range(1, 100) },
    strayPerNetwork: rate,
    handle: range(30, 15 * minute),
  },
  nationalId: {
    failures: rate,
    perNetwork: rate,
    // Not shorter: within it a person counts once against a sweep.
    perPerson: { limit: range(1, 100_000), window: range(hour, 7 * day) },
    breaker: { unknown: range(1, 1_000_000), percent: range(1, 100), window: range(minute, day) },
    life: range(minute, hour),
  },
  qr: { life: range(minute, hour), perCard: rate, perNetwork: rate, cardLife: range(day, 20 * year) },
  sync: {
    perSession: rate,
    worker: syncAllowance,
    citizen: syncAllowance,
    takenPerWorker: rate,
    parallel: range(1, 64),
  },
  revocation: { poll: range(1, 2), stale: range(2, 4), overlap: range(5, hour) },
  keys: { life: range(hour, 2 * year), lead: range(10, day) },
  dpopNonce: range(10, hour),
  http: {
    bodyLimit: range(1024, 1024 * 1024),
    headersTimeout: range(1, 5 * minute),
    requestTimeout: range(1, 10 * minute),
    grace: range(0, 10 * minute),
  },
  journal: { seal: range(1, minute), checkpoint: range(1, hour) },
} as const satisfies Bounds;

/** How far a tenant may move its own numbers, the `TenantPolicy`. */
export const tenantPolicyBounds = {
  tokens: accessLife,
  sessions: { bound: sessionLife, plain: sessionLife, allowPlain: "flag" },
  password: { minLength },
} as const satisfies Bounds;
