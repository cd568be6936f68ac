import {
  createLocalJWKSet,
  type JWK,
  type JWSHeaderParameters,
  type JWTVerifyGetKey,
  errors as joseErrors,
} from "jose";
import type { Clock } from "../../clock.ts";
import { Fault } from "../../fault.ts";
import { type FetchFailure, type ProviderFetch, ProviderFetchError } from "./provider-fetch.ts";

/** The signing keys and the own name of an issuer, as its discovery document leads to them. */
export interface ProviderMetadata {
  /** Exactly as the provider writes it, and as every token of it must. */
  readonly issuer: string;
  readonly introspectionEndpoint: string | null;
}

export interface ProviderKeys {
  /** What the provider says of itself. Rejects with `provider_unavailable` where that cannot be had. */
  metadata(source: ProviderSource): Promise<ProviderMetadata>;
  /** The key that a token's header names. Rejects with `provider_unavailable` where nobody can tell. */
  keyFor(source: ProviderSource, header: JWSHeaderParameters): ReturnType<JWTVerifyGetKey>;
}

/** Where the keys of an issuer come from. */
export interface ProviderSource {
  /** Without a slash at its end. */
  readonly issuer: string;
  /** Whether the provider may call itself with one slash more. */
  readonly mayEndWithSlash: boolean;
}

/** Milliseconds. */
export const keyTimes = {
  /** Discovery and keys together. */
  patience: 5000,
  /** Between two fetches, whatever is asked for. */
  pause: 30_000,
  /** After a first fetch that failed: nobody can sign in until it succeeds. */
  pauseWithoutKeys: 10_000,
  /** After which keys are fetched anew beside the work, so that a withdrawn one is not used for ever. */
  fresh: 15 * 60_000,
};
const mostKeys = 100;
/** Only issuers in some tenant's settings are asked for; those that were taken away go at last too. */
const mostIssuers = 10_000;
/** How many requests wait for one fetch; the next ones are told to come back. */
const mostWaiters = 100;

interface Known extends ProviderMetadata {
  readonly kids: ReadonlySet<string>;
  readonly getKey: ReturnType<typeof createLocalJWKSet>;
  readonly fetchedAt: number;
}

interface Entry {
  known: Known | null;
  flight: Promise<void> | null;
  waiters: number;
  lastStart: number;
  /** When an unknown key last made us ask: the first fetch of all is not one of these, keys may be replaced right after. */
  lastKeyHunt: number;
  lastFailed: boolean;
}

export interface ProviderKeysParts {
  readonly fetch: ProviderFetch;
  readonly clock: Clock;
  /** Told why a provider could not be read. */
  readonly onTrouble: (issuer: string, error: unknown) => void;
}

/** Every issuer for itself: one that hangs, lies or is huge costs nobody else anything. */
export function createProviderKeys({ fetch, clock, onTrouble }: ProviderKeysParts): ProviderKeys {
  const entries = new Map<string, Entry>();

  function entryOf({ issuer, mayEndWithSlash }: ProviderSource): Entry {
    if (entries.size >= mostIssuers) entries.clear();
    const key = `${issuer}${mayEndWithSlash ? "/" : ""}`;
    const entry = entries.get(key) ?? {
      known: null,
      flight: null,
      waiters: 0,
      lastStart: Number.NEGATIVE_INFINITY,
      lastKeyHunt: Number.NEGATIVE_INFINITY,
      lastFailed: false,
    };
    entries.set(key, entry);
    return entry;
  }

  const pauseOf = ({ known }: Entry) => (known ? keyTimes.pause : keyTimes.pauseWithoutKeys);
  const mayFetch = (entry: Entry) => clock.monotonic() - entry.lastStart >= pauseOf(entry);

  function start(source: ProviderSource, entry: Entry): Promise<void> {
    entry.lastStart = clock.monotonic();
    entry.flight = loadProvider(fetch, source, clock)
      .then((known) => {
        entry.known = known;
        entry.lastFailed = false;
      })
      .catch((error: unknown) => {
        // What was known stays in use: a provider that is down signs nobody out.
        entry.lastFailed = true;
        onTrouble(source.issuer, error);
      })
      .finally(() => {
        entry.flight = null;
      });
    return entry.flight;
  }

  /** Waits for a fetch, if one may be made now or is under way. */
  async function refresh(source: ProviderSource, entry: Entry, mayStart: boolean): Promise<void> {
    const flight = entry.flight ?? (mayStart ? start(source, entry) : null);
    if (!flight) return;
    if (entry.waiters >= mostWaiters) throw unavailable(entry, "too many wait for it");
    entry.waiters += 1;
    try {
      await flight;
    } finally {
      entry.waiters -= 1;
    }
  }

  /** One fetch in a while for keys that nobody knows: strangers can name as many as they like. */
  async function hunt(source: ProviderSource, entry: Entry): Promise<void> {
    const now = clock.monotonic();
    const mayStart = now - entry.lastKeyHunt >= keyTimes.pause && (!entry.lastFailed || mayFetch(entry));
    if (mayStart && !entry.flight) entry.lastKeyHunt = now;
    await refresh(source, entry, mayStart);
  }

  function unavailable(entry: Entry, detail: string): Fault {
    const wait = (entry.lastStart + pauseOf(entry) - clock.monotonic()) / 1000;
    return new Fault("provider_unavailable", { detail, retryAfter: Math.max(1, wait) });
  }

  async function knownOf(source: ProviderSource, entry: Entry): Promise<Known> {
    if (!entry.known) await refresh(source, entry, mayFetch(entry));
    const { known } = entry;
    if (!known) throw unavailable(entry, "no discovery document or keys");
    if (!entry.flight && clock.monotonic() - known.fetchedAt > keyTimes.fresh && mayFetch(entry)) {
      void start(source, entry);
    }
    return known;
  }

  return {
    async metadata(source) {
      return knownOf(source, entryOf(source));
    },
    async keyFor(source, header) {
      const entry = entryOf(source);
      let known = await knownOf(source, entry);
      if (header.kid !== undefined && !known.kids.has(header.kid)) {
        await hunt(source, entry);
        known = entry.known ?? known;
        // While the provider does not answer nobody can say whether the key is a new one.
        if (!known.kids.has(header.kid) && entry.lastFailed) throw unavailable(entry, "unknown key, provider away");
      }
      return known.getKey(header).catch((error: unknown) => {
        // A key that cannot even be read is no key.
        throw error instanceof joseErrors.JOSEError ? error : new joseErrors.JWKSNoMatchingKey();
      });
    },
  };
}

/** Reads a provider anew. Rejects with `ProviderFetchError`. */
export async function loadProvider(fetch: ProviderFetch, source: ProviderSource, clock: Clock): Promise<Known> {
  const signal = AbortSignal.timeout(keyTimes.patience);
  const { issuer, jwks_uri, introspection_endpoint } = await fetch(
    `${source.issuer}/.well-known/openid-configuration`,
    { signal },
  );
  const isOwn = issuer === source.issuer || (source.mayEndWithSlash && issuer === `${source.issuer}/`);
  if (typeof issuer !== "string" || !isOwn)
    throw lie("wrong_issuer", `The discovery document of ${source.issuer} is of another issuer.`);
  if (typeof jwks_uri !== "string")
    throw lie("unusable_keys", `The discovery document of ${source.issuer} names no jwks_uri.`);
  const keys = usableKeys((await fetch(jwks_uri, { signal })).keys);
  if (keys.length === 0) throw lie("unusable_keys", `${source.issuer} has no key that can be used.`);
  return {
    issuer,
    introspectionEndpoint: typeof introspection_endpoint === "string" ? introspection_endpoint : null,
    kids: new Set(keys.flatMap(({ kid }) => (kid === undefined ? [] : [kid]))),
    getKey: createLocalJWKSet({ keys }),
    fetchedAt: clock.monotonic(),
  };
}

const lie = (reason: FetchFailure, message: string) => new ProviderFetchError(reason, message);

/** Public keys for signatures; what else lies in the set is not ours to judge. */
function usableKeys(keys: unknown): JWK[] {
  if (!Array.isArray(keys)) throw lie("unusable_keys", "The key set has no list of keys.");
  if (keys.length > mostKeys) throw lie("unusable_keys", `The key set has more than ${mostKeys} keys.`);
  return keys.filter((key: unknown): key is JWK => {
    if (typeof key !== "object" || key === null) return false;
    const { kty, kid, use } = key as Partial<JWK>;
    const isPublicKind = kty === "RSA" || kty === "EC" || kty === "OKP";
    return isPublicKind && (kid === undefined || typeof kid === "string") && (use === undefined || use === "sig");
  });
}
