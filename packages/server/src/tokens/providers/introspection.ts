import { hash } from "node:crypto";
import type { Clock } from "../../clock.ts";
import { Fault } from "../../fault.ts";
import { VerifiedCache } from "../verified-cache.ts";
import type { ProviderFetch } from "./provider-fetch.ts";
import { keyTimes, type ProviderKeys } from "./provider-keys.ts";
import { type ProviderClaims, type ProviderRules, readIntrospection, sourceOf } from "./provider-tokens.ts";

/** A client that may ask a provider about tokens (RFC 7662). */
export interface IntrospectionClient {
  readonly clientId: string;
  readonly secret: string;
}

export interface Introspection {
  /** What the provider says of an opaque access token. Rejects with `invalid_token` where it is not good for the client. */
  ask(rules: ProviderRules, client: IntrospectionClient, token: string): Promise<ProviderClaims>;
}

/** Questions to one provider that may be under way; the next ones are told to come back. */
const mostAtOnce = 16;
/** Milliseconds in which a token that was refused is not asked about again. */
const refusedMs = 30_000;
const mostRefused = 10_000;

export function createIntrospection(parts: {
  readonly fetch: ProviderFetch;
  readonly keys: ProviderKeys;
  readonly clock: Clock;
}): Introspection {
  const { fetch, keys, clock } = parts;
  const underWay = new Map<string, number>();
  const refused = new VerifiedCache<number>(mostRefused);

  async function question(rules: ProviderRules, client: IntrospectionClient, token: string) {
    const { issuer, introspectionEndpoint } = await keys.metadata(sourceOf(rules));
    if (introspectionEndpoint === null)
      throw new Fault("invalid_token", { detail: "the provider has no introspection" });
    const count = underWay.get(issuer) ?? 0;
    if (count >= mostAtOnce) throw new Fault("provider_unavailable", { detail: "too many questions", retryAfter: 1 });
    underWay.set(issuer, count + 1);
    try {
      const answer = await fetch(introspectionEndpoint, {
        signal: AbortSignal.timeout(keyTimes.patience),
        form: { fields: { token, token_type_hint: "access_token" }, authorization: basic(client) },
      });
      return { issuer, answer };
    } catch (cause) {
      throw new Fault("provider_unavailable", { detail: "introspection failed", cause, retryAfter: 5 });
    } finally {
      const left = (underWay.get(issuer) ?? 1) - 1;
      if (left === 0) underWay.delete(issuer);
      else underWay.set(issuer, left);
    }
  }

  return {
    async ask(rules, client, token) {
      const key = hash("sha256", JSON.stringify([rules.issuer, rules.clientId, token]), "base64url");
      if ((refused.get(key) ?? 0) > clock.monotonic()) throw new Fault("invalid_token", { detail: "refused before" });
      const { issuer, answer } = await question(rules, client, token);
      try {
        return readIntrospection(rules, issuer, answer, clock.now() / 1000);
      } catch (error) {
        refused.set(key, clock.monotonic() + refusedMs);
        throw error;
      }
    },
  };
}

/** RFC 6749, 2.3.1: both parts are encoded as in a form before they are joined. */
function basic({ clientId, secret }: IntrospectionClient): string {
  const encode = (text: string) => new URLSearchParams({ t: text }).toString().slice(2);
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString("base64")}`;
}
