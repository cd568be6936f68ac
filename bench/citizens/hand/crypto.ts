import { createDecipheriv, createHmac, type KeyObject, randomUUID, timingSafeEqual } from "node:crypto";
import { signEs256 } from "../../../packages/server/src/tokens/es256.ts";
import type { CitizenKeys } from "./keys.ts";

/** What the ways in need of cryptography, written straight over `node:crypto`. */

export function mac(key: KeyObject, ...parts: readonly (string | number)[]): string {
  return createHmac("sha256", key).update(JSON.stringify(parts)).digest("base64url");
}

export function sameText(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** Opens a sealed column of a row, bound to its place. */
export function open({ tenant }: CitizenKeys, table: string, row: string, column: string, sealed: string): string {
  const bytes = Buffer.from(sealed.slice(sealed.indexOf(".") + 1), "base64url");
  const decipher = createDecipheriv("aes-256-gcm", tenant.data, bytes.subarray(0, 12));
  decipher.setAAD(Buffer.from(JSON.stringify([tenant.id, table, row, column]))).setAuthTag(bytes.subarray(-16));
  return decipher.update(bytes.subarray(12, -16), undefined, "utf8") + decipher.final("utf8");
}

const fair = 4_294_000_000;

/** Six digits without a bias, as the service derives them. */
export function codeOf(key: KeyObject, challenge: { id: string; tenant_id: string; recipient: string }): string {
  for (let round = 0; ; round += 1) {
    const { id, tenant_id, recipient } = challenge;
    const bytes = createHmac("sha256", key)
      .update(JSON.stringify(["otp", id, tenant_id, recipient, "sign-in", round]))
      .digest();
    for (let at = 0; at < bytes.length; at += 4) {
      const value = bytes.readUInt32BE(at);
      if (value < fair) return String(value % 1_000_000).padStart(6, "0");
    }
  }
}

export interface SessionRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly user_id: string;
  readonly username: string;
  readonly amr: string;
  readonly acr: string;
  readonly scope: string;
  readonly device_id: string;
  readonly absolute_expires_at: number;
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

export function accessToken(keys: CitizenKeys, baseUrl: string, session: SessionRow, lifeSeconds: number): string {
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
    entityId: session.user_id,
    iat: now,
    nbf: now,
    exp: now + lifeSeconds,
    jti: randomUUID(),
  });
  const signed = `${header}.${claims}`;
  return `${signed}.${signEs256(keys.signer, signed).toString("base64url")}`;
}
