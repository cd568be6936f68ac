import { hash } from "node:crypto";
import type { AccessTokenClaims } from "@fieldgate/contract";
import type { Clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import { findSession } from "../store/sessions.ts";
import type { Store } from "../store/store.ts";
import type { AccessTokens } from "./access-token.ts";
import type { Revocations } from "./revocations.ts";
import { issuerOfToken } from "./token-issuer.ts";
import { VerifiedCache } from "./verified-cache.ts";

/** A token that was proven once, with what its session knows of the person. */
export interface VerifiedToken {
  readonly claims: AccessTokenClaims;
  readonly username: string;
  readonly provider: string;
  /** The device of the session; null where it has none. */
  readonly deviceId: string | null;
  /** When another's token must be looked at anew, in ms: what makes it good can end without a session being ended. */
  readonly until?: number;
}

/** Proves tokens that others issued: identity providers of tenants. */
export interface ForeignTokens {
  verify(token: string, issuer: string): Promise<VerifiedToken>;
}

/** Proves tokens. Whoever passes may act as the person; so `exp` and revocation are asked at every call. */
export interface TokenCheck {
  /** The verdict, if this node can give it at once without any waiting; the hot path of a whole deployment. */
  fromMemory(token: string): VerifiedToken | null;
  /** The verdict. Rejects with a 401 for a bad token, and with a 503 where there can be none. */
  verify(token: string): Promise<VerifiedToken>;
}

export interface TokenCheckParts {
  readonly store: Store;
  readonly clock: Clock;
  /** The `iss` of our own tokens. */
  readonly issuer: string;
  readonly accessTokens: AccessTokens;
  readonly foreignTokens: ForeignTokens;
  readonly revocations: Revocations;
  readonly cacheSize: number;
}

const longestToken = 8192;

export function createTokenCheck(parts: TokenCheckParts): TokenCheck {
  const { store, clock, accessTokens, foreignTokens, revocations } = parts;
  const cache = new VerifiedCache<VerifiedToken>(parts.cacheSize);

  function demandLiving(verified: VerifiedToken): VerifiedToken {
    if (verified.claims.exp * 1000 <= clock.now()) throw new Fault("invalid_token", { detail: "expired" });
    if (revocations.has(verified.claims.sid)) throw new Fault("session_revoked");
    return verified;
  }

  function recall(key: string): VerifiedToken | undefined {
    const verified = cache.get(key);
    return verified?.until !== undefined && verified.until <= clock.now() ? undefined : verified;
  }

  async function verifyNew(token: string, key: string): Promise<VerifiedToken> {
    const issuer = issuerOfToken(token);
    const isOwn = issuer === null || issuer === parts.issuer;
    const verified = isOwn ? await verifyOwn(token) : await foreignTokens.verify(token, issuer);
    cache.set(key, verified);
    return verified;
  }

  async function verifyOwn(token: string): Promise<VerifiedToken> {
    const claims = await accessTokens.verify(token);
    const found = await findSession(store, claims.sid);
    if (!found || found.session.tenantId !== claims.tenantId || found.session.userId !== claims.sub)
      throw new Fault("invalid_token", { detail: "no session" });
    if (found.session.revokedAt !== null) throw new Fault("session_revoked");
    const { username, provider, deviceId } = found.session;
    return { claims, username, provider, deviceId };
  }

  return {
    fromMemory(token) {
      const verified = recall(hash("sha256", token, "base64url"));
      return verified && revocations.isFresh() ? demandLiving(verified) : null;
    },
    async verify(token) {
      if (token.length > longestToken) throw new Fault("invalid_token", { detail: "too long" });
      const key = hash("sha256", token, "base64url");
      const verified = recall(key) ?? (await verifyNew(token, key));
      await revocations.makeFresh();
      return demandLiving(verified);
    },
  };
}
