import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";

/** Node checks and copies a key of bytes anew at each use, which takes several times as long as the MAC itself. */
const prepared = new WeakMap<Uint8Array, KeyObject>();

function prepare(key: Uint8Array): KeyObject {
  let ready = prepared.get(key);
  if (ready === undefined) {
    ready = createSecretKey(key);
    prepared.set(key, ready);
  }
  return ready;
}

/** HMAC-SHA256 over a list of texts. JSON keeps `["a","bc"]` and `["ab","c"]` apart. */
export function macBytes(key: Uint8Array, ...parts: readonly (string | number)[]): Buffer {
  return createHmac("sha256", prepare(key)).update(JSON.stringify(parts)).digest();
}

export function mac(key: Uint8Array, ...parts: readonly (string | number)[]): string {
  return macBytes(key, ...parts).toString("base64url");
}

/** Compares without telling by its time where two texts differ. */
export function sameText(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
