import { randomBytes } from "node:crypto";

/** 128 random bits: the id of a session or a device. */
export function opaqueId(): string {
  return randomBytes(16).toString("base64url");
}
