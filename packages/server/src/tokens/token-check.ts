import { hash } from "node:crypto";
import type { AccessTokenClaims } from "@fieldgate/contract";
import type { Clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import { findSession } from "../store/sessions.ts";
import type { Store } from "../store/store.ts";
import type { AccessTokens } from "./access-token.ts";
import type { Revocations } from "./revocations.ts";
import { VerifiedCache } from "./verified-cache.ts";

/** A token that was proven once, with what its session knows of the person. */
export interface VerifiedToken {
  readonly claims: AccessTokenClaims;
  readonly username: string;
  readonly provider: string;
  /** The device of the session; null where it has none. */
  readonly deviceId: string | null;
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
  readonly accessTokens: AccessTokens;
  readonly revocations: Revocations;
  readonly cacheSize: number;
}

const longestToken = 8192;

export function createTokenCheck(parts: TokenCheckParts): TokenCheck {
  const { store, clock, accessTokens, revocations } = parts;
  const cache = new VerifiedCache<VerifiedToken>(parts.cacheSize);

  function demandLiving(verified: VerifiedToken): VerifiedToken {
    if (verified.claims.exp * 1000 <= clock.now()) throw new Fault("invalid_token", { detail: "expired" });
    if (revocations.has(verified.claims.sid)) throw new Fault("session_revoked");
    return verified;
  }

  async function verifyNew(token: string, key: string): Promise<VerifiedToken> {
    const claims = await accessTokens.verify(token);
    const found = await findSession(store, claims.sid);
    if (!found || found.session.tenantId !== claims.tenantId || found.session.userId !== claims.sub)
      throw new Fault("invalid_token", { detail: "no session" });
    if (found.session.revokedAt !== null) throw new Fault("session_revoked");
    const { username, provider, deviceId } = found.session;
    const verified = { claims, username, provider, deviceId };
    cache.set(key, verified);
    return verified;
  }

  return {
    fromMemory(token) {
      const verified = cache.get(hash("sha256", token, "base64url"));
      return verified && revocations.isFresh() ? demandLiving(verified) : null;
    },
    async verify(token) {
      if (token.length > longestToken) throw new Fault("invalid_token", { detail: "too long" });
      const key = hash("sha256", token, "base64url");
      const verified = cache.get(key) ?? (await verifyNew(token, key));
      await revocations.makeFresh();
      return demandLiving(verified);
    },
  };
}
