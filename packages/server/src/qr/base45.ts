/**
 * Base45 (RFC 9285), strictly: the packages we tried accept values that overflow, which gives one card many texts.
 */
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:";
const values = new Map([...alphabet].map((char, value) => [char, value]));

export function decodeBase45(text: string): Uint8Array | null {
  if (text.length % 3 === 1) return null;
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at += 3) {
    const [low, middle, high] = [0, 1, 2].map((offset) => values.get(text[at + offset] ?? ""));
    if (low === undefined || middle === undefined) return null;
    const isPair = at + 2 >= text.length;
    if (!isPair && high === undefined) return null;
    const value = low + middle * 45 + (isPair ? 0 : (high ?? 0) * 2025);
    if (value > (isPair ? 0xff : 0xffff)) return null;
    if (isPair) bytes.push(value);
    else bytes.push(value >> 8, value & 0xff);
  }
  return Uint8Array.from(bytes);
}

export function encodeBase45(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 2) {
    const [first = 0, second] = bytes.subarray(at, at + 2);
    const value = second === undefined ? first : first * 256 + second;
    const digits = [
      value % 45,
      Math.floor(value / 45) % 45,
      ...(second === undefined ? [] : [Math.floor(value / 2025)]),
    ];
    text += digits.map((digit) => alphabet[digit]).join("");
  }
  return text;
}
