import {
  createHmac,
  createPublicKey,
  hash,
  type KeyObject,
  randomUUID,
  sign,
  timingSafeEqual,
  verify,
} from "node:crypto";
import type { HandKeys } from "./keys.ts";
import type { SessionRow } from "./statements.ts";

/** What the service's tokens need, written straight over `node:crypto`. */

function mac(key: KeyObject, ...parts: readonly (string | number)[]): string {
  return createHmac("sha256", key).update(JSON.stringify(parts)).digest("base64url");
}

export function refreshToken(key: KeyObject, family: string, counter: number): string {
  return `${family}.${counter}.${mac(key, "refresh", family, counter)}`;
}

export const refreshTokenHash = (token: string): string => hash("sha256", token, "base64url");

export const deviceToken = (key: KeyObject, device: string): string => `${device}.${mac(key, "device", device)}`;

export function sameText(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

export function accessToken(keys: HandKeys, baseUrl: string, session: SessionRow, lifeSeconds: number): string {
  const now = Math.floor(Date.now() / 1000);
  const header = part({ alg: "ES256", typ: "at+jwt", kid: keys.kid });
  const claims = part({
    iss: baseUrl,
    aud: baseUrl,
    sub: session.user_id,
    sid: session.id,
    tenantId: session.tenant_id,
    scope: session.scope,
    amr: JSON.parse(session.amr),
    acr: session.acr,
    iat: now,
    nbf: now,
    exp: now + lifeSeconds,
    jti: randomUUID(),
  });
  const signed = `${header}.${claims}`;
  const signature = sign("sha256", Buffer.from(signed), { key: keys.signer, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

const nonceSpanMs = 300_000;
const nonces = new Map<number, string>();

function nonceOf(keys: HandKeys, span: number): string {
  let nonce = nonces.get(span);
  if (nonce === undefined) {
    nonce = mac(keys.nonce, "dpop-nonce", span);
    nonces.set(span, nonce);
  }
  return nonce;
}

export const currentNonce = (keys: HandKeys): string => nonceOf(keys, Math.floor(Date.now() / nonceSpanMs));

function isFreshNonce(keys: HandKeys, nonce: string): boolean {
  const span = Math.floor(Date.now() / nonceSpanMs);
  return [span, span - 1, span + 1].some((near) => sameText(nonce, nonceOf(keys, near)));
}

export interface Proof {
  readonly jkt: string;
  readonly id: string;
}

/** Everything RFC 9449 asks of a proof for this request; null where it is not good. */
export function checkProof(keys: HandKeys, proof: string, method: string, url: string): Proof | null {
  const [header = "", payload = "", signature = ""] = proof.split(".");
  const { typ, alg, jwk } = JSON.parse(Buffer.from(header, "base64url").toString());
  if (typ !== "dpop+jwt" || alg !== "ES256" || jwk.kty !== "EC" || jwk.crv !== "P-256" || "d" in jwk) return null;
  const key = createPublicKey({ key: jwk, format: "jwk" });
  const signed = Buffer.from(`${header}.${payload}`);
  const dsa = { key, dsaEncoding: "ieee-p1363" } as const;
  if (!verify("sha256", signed, dsa, Buffer.from(signature, "base64url"))) return null;
  const { htm, htu, iat, jti, nonce } = JSON.parse(Buffer.from(payload, "base64url").toString());
  if (htm !== method || htu !== url || typeof iat !== "number" || typeof jti !== "string") return null;
  if (typeof nonce !== "string" || !isFreshNonce(keys, nonce)) return null;
  const jkt = hash("sha256", JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y }), "base64url");
  return { jkt, id: hash("sha256", JSON.stringify([jkt, jti]), "base64url") };
}
