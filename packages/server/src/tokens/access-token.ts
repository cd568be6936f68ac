import { randomUUID } from "node:crypto";
import type { AccessTokenClaims } from "@fieldgate/contract";
import { type JWTPayload, errors as joseErrors, jwtVerify } from "jose";
import type { Clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import { signEs256 } from "./es256.ts";
import type { Keyring } from "./keyring.ts";

/** The header `typ` of our access tokens (RFC 9068): no other token of ours has it. */
const typ = "at+jwt";
const alg = "ES256";

export interface AccessTokenSettings {
  readonly issuer: string;
  readonly audience: string;
  /** Seconds our clocks may differ. */
  readonly skew: number;
}

export type AccessTokenGrant = Pick<
  AccessTokenClaims,
  "sub" | "sid" | "tenantId" | "scope" | "amr" | "acr" | "entityId" | "act"
>;

export interface AccessTokens {
  issue(grant: AccessTokenGrant, lifeSeconds: number): Promise<string>;
  /** Proves signature, form and times. Whether the session still lives is for the caller to ask. */
  verify(token: string): Promise<AccessTokenClaims>;
}

export function createAccessTokens(keyring: Keyring, clock: Clock, settings: AccessTokenSettings): AccessTokens {
  return {
    async issue(grant, lifeSeconds) {
      const { kid, privateKey } = keyring.signer();
      const issuedAt = Math.floor(clock.now() / 1000);
      const claims = {
        iss: settings.issuer,
        aud: settings.audience,
        ...grant,
        iat: issuedAt,
        nbf: issuedAt,
        exp: issuedAt + lifeSeconds,
        jti: randomUUID(),
      } satisfies AccessTokenClaims;
      const signed = `${encode(JSON.stringify({ alg, typ, kid }))}.${encode(JSON.stringify(claims))}`;
      return `${signed}.${signEs256(privateKey, signed).toString("base64url")}`;
    },

    async verify(token) {
      try {
        const { payload, protectedHeader } = await jwtVerify(token, (header) => verifierFor(keyring, header.kid), {
          algorithms: [alg],
          typ,
          issuer: settings.issuer,
          audience: settings.audience,
          clockTolerance: settings.skew,
          currentDate: new Date(clock.now()),
          requiredClaims: ["sub", "iat", "nbf", "exp", "jti", "sid", "tenantId", "scope", "amr", "acr"],
        });
        demandOwnSpelling(token, protectedHeader.kid, payload);
        return demandClaims(payload, clock.now() / 1000 + settings.skew);
      } catch (cause) {
        // jose rejects with its own errors for everything a token can be wrong in; anything else is our own fault.
        if (cause instanceof joseErrors.JOSEError) throw new Fault("invalid_token", { detail: cause.code, cause });
        throw cause;
      }
    },
  };
}

/** `kid` only indexes keys we know; a token that names none, or brings its own, has no key. */
async function verifierFor(keyring: Keyring, kid: string | undefined) {
  const key = kid === undefined ? undefined : await keyring.verifier(kid);
  if (!key) throw new joseErrors.JWKSNoMatchingKey();
  return key;
}

/**
 * A token of ours has exactly the form we write: no other header members, no member twice, no other spelling of the same
 * bytes. What two readers could take for different things is nobody's token.
 */
function demandOwnSpelling(token: string, kid: string | undefined, payload: JWTPayload): void {
  const [header, claims, signature = ""] = token.split(".");
  const isOwn =
    header === encode(JSON.stringify({ alg, typ, kid })) &&
    claims === encode(JSON.stringify(payload)) &&
    signature === Buffer.from(signature, "base64url").toString("base64url");
  if (!isOwn) throw new Fault("invalid_token", { detail: "not spelt as we spell a token" });
}

const encode = (text: string) => Buffer.from(text).toString("base64url");

function demandClaims(payload: JWTPayload, latestIssue: number): AccessTokenClaims {
  const { sub, sid, tenantId, scope, amr, acr, jti, entityId, aud, iat = Number.POSITIVE_INFINITY } = payload;
  const texts = [sub, sid, tenantId, scope, acr, jti, aud].every((claim) => typeof claim === "string");
  const list = Array.isArray(amr) && amr.every((method) => typeof method === "string");
  if (!texts || !list || (entityId !== undefined && typeof entityId !== "string")) {
    throw new Fault("invalid_token", { detail: "a claim has the wrong type" });
  }
  if (iat > latestIssue) throw new Fault("invalid_token", { detail: "issued in the future" });
  return payload as unknown as AccessTokenClaims;
}
