import { type KeyObject, sign, verify } from "node:crypto";

/**
 * ES256 (RFC 7518, 3.4): ECDSA with P-256 and SHA-256, the signature two numbers of 32 bytes. Node knows this form as an
 * option, but takes as long for a key with options as for the whole signature; a bare key speaks DER, so the numbers
 * are moved from one form to the other here. See docs/decisions/0007.
 */
const half = 32;

export function signEs256(key: KeyObject, text: string): Buffer {
  const der = sign("sha256", Buffer.from(text), key);
  const signature = Buffer.alloc(2 * half);
  // SEQUENCE, its length, INTEGER, its length, the first number; INTEGER, its length, the second.
  const first = der[3] as number;
  placeNumber(der.subarray(4, 4 + first), signature.subarray(0, half));
  placeNumber(der.subarray(4 + first + 2), signature.subarray(half));
  return signature;
}

export function verifyEs256(key: KeyObject, text: string, signature: Uint8Array): boolean {
  if (signature.length !== 2 * half) return false;
  const numbers = [...derInteger(signature.subarray(0, half)), ...derInteger(signature.subarray(half))];
  const der = Uint8Array.from([0x30, numbers.length, ...numbers]);
  return verify("sha256", Buffer.from(text), key, der);
}

/** DER writes no leading zeros, save one before a set first bit; here a number has its place to the right. */
function placeNumber(digits: Uint8Array, place: Uint8Array): void {
  const significant = digits.subarray(Math.max(0, digits.length - half));
  place.set(significant, half - significant.length);
}

function derInteger(number: Uint8Array): number[] {
  const start = number.findIndex((byte) => byte !== 0);
  const digits = start === -1 ? [0] : [...number.subarray(start)];
  if ((digits[0] as number) >= 0x80) digits.unshift(0);
  return [0x02, digits.length, ...digits];
}
