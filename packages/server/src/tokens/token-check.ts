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
  /** A JWT whose `iss` is not ours. */
  verify(token: string, issuer: string): Promise<VerifiedToken>;
  /** A token that only its issuer can read. */
  verifyOpaque(token: string, tenantId: string): Promise<VerifiedToken>;
}

/** The tenant that a request names. It only says whom to ask about a token that says nothing by itself. */
export type TenantHint = () => Promise<string | null>;

/** Proves tokens. Whoever passes may act as the person; so `exp` and revocation are asked at every call. */
export interface TokenCheck {
  /** The verdict, if this node can give it at once without any waiting; the hot path of a whole deployment. */
  fromMemory(token: string): VerifiedToken | null;
  /** The verdict. Rejects with a 401 for a bad token, and with a 503 where there can be none. */
  verify(token: string, hint?: TenantHint): Promise<VerifiedToken>;
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

  async function verifyNew(token: string, key: string, hint: TenantHint | undefined): Promise<VerifiedToken> {
    const verified = await verifyByIssuer(token, hint);
    cache.set(key, verified);
    return verified;
  }

  async function verifyByIssuer(token: string, hint: TenantHint | undefined): Promise<VerifiedToken> {
    const issuer = issuerOfToken(token);
    if (issuer !== null && issuer !== parts.issuer) return foreignTokens.verify(token, issuer);
    // Whatever of ours is secret has dots in it, and never leaves this way.
    const tenantId = hint && !token.includes(".") ? await hint() : null;
    return tenantId === null ? verifyOwn(token) : foreignTokens.verifyOpaque(token, tenantId);
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
    async verify(token, hint) {
      if (token.length > longestToken) throw new Fault("invalid_token", { detail: "too long" });
      const key = hash("sha256", token, "base64url");
      const verified = recall(key) ?? (await verifyNew(token, key, hint));
      await revocations.makeFresh();
      return demandLiving(verified);
    },
  };
}
