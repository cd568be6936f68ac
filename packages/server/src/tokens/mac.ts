import { createHmac, timingSafeEqual } from "node:crypto";

/** HMAC-SHA256 over a list of texts. JSON keeps `["a","bc"]` and `["ab","c"]` apart. */
export function mac(key: Uint8Array, ...parts: readonly (string | number)[]): string {
  return createHmac("sha256", key).update(JSON.stringify(parts)).digest("base64url");
}

/** Compares without telling by its time where two texts differ. */
export function sameText(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
