import { hash } from "node:crypto";
import { mac, sameText } from "./mac.ts";

/**
 * A refresh token is `family.counter.MAC`. Each is derived from its family and counter, so the same successor can be
 * answered twice and nothing that opens a session lies in the database.
 */
export interface RefreshTokenParts {
  readonly family: string;
  readonly counter: number;
  readonly mac: string;
}

const form = /^([A-Za-z0-9_-]{22})\.(0|[1-9][0-9]{0,14})\.([A-Za-z0-9_-]{43})$/;

export function refreshToken(key: Uint8Array, family: string, counter: number): string {
  return `${family}.${counter}.${mac(key, "refresh", family, counter)}`;
}

export function parseRefreshToken(token: string): RefreshTokenParts | null {
  const match = form.exec(token);
  return match && { family: match[1] ?? "", counter: Number(match[2]), mac: match[3] ?? "" };
}

export function isGenuine(key: Uint8Array, parts: RefreshTokenParts): boolean {
  return sameText(parts.mac, mac(key, "refresh", parts.family, parts.counter));
}

/** What lies in the database of a refresh token, and what a client may keep to end its session later. */
export function refreshTokenHash(token: string): string {
  return hash("sha256", token, "base64url");
}
