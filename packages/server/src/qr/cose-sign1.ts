import { hash } from "node:crypto";
import { Tag } from "cbor2";
import { decodeStrictCbor } from "./strict-cbor.ts";
import { malformed } from "./unpack.ts";

/** The signature algorithms of RFC 9053 and RFC 9864 that a trust entry may allow. */
export const coseAlgorithms: ReadonlyMap<number, QrAlgorithm> = new Map([
  [-8, "EdDSA"],
  [-19, "EdDSA"],
  [-7, "ES256"],
  [-9, "ES256"],
  [-35, "ES384"],
  [-37, "PS256"],
  [-257, "RS256"],
]);
export const qrAlgorithms = ["EdDSA", "ES256", "ES384", "PS256", "RS256"] as const;
export type QrAlgorithm = (typeof qrAlgorithms)[number];

/** A signed message (RFC 9052), taken apart and not yet verified. */
export interface CoseSign1 {
  readonly algorithm: QrAlgorithm;
  /** The key's name, where the card has one. */
  readonly kid: Uint8Array | null;
  readonly protectedHeader: Uint8Array;
  readonly payload: Uint8Array;
  readonly signature: Uint8Array;
}

const header = { alg: 1, crit: 2, kid: 4 } as const;
const signTag = 18;
const cwtTag = 61;

export function parseCoseSign1(bytes: Uint8Array): CoseSign1 {
  const decoded = decodeStrictCbor(bytes);
  if (!decoded) throw malformed("no CBOR");
  const parts = untag(decoded.value);
  if (!Array.isArray(parts) || parts.length !== 4) throw malformed("no COSE_Sign1");
  const [protectedHeader, unprotected, payload, signature] = parts as unknown[];
  if (!isBytes(protectedHeader) || !(unprotected instanceof Map) || !isBytes(payload) || !isBytes(signature)) {
    throw malformed("no COSE_Sign1");
  }
  if (signature.length === 0) throw malformed("no signature");
  const trusted = protectedMap(protectedHeader);
  // None of the extensions that `crit` could name is understood here.
  if (trusted.has(header.crit) || unprotected.has(header.crit)) throw malformed("crit");
  const alg: unknown = trusted.get(header.alg);
  const algorithm = typeof alg === "number" ? coseAlgorithms.get(alg) : undefined;
  if (!algorithm) throw malformed("algorithm missing, unprotected or unknown");
  return { algorithm, kid: kidOf(trusted, unprotected), protectedHeader, payload, signature };
}

/** No tag, 18, or 61(18): nothing else. */
function untag(value: unknown): unknown {
  if (!(value instanceof Tag)) return value;
  if (value.tag === signTag) return value.contents;
  const isCwt = value.tag === cwtTag && value.contents instanceof Tag && value.contents.tag === signTag;
  if (!isCwt) throw malformed("another tag");
  return (value.contents as Tag).contents;
}

function protectedMap(bytes: Uint8Array): Map<unknown, unknown> {
  const decoded = decodeStrictCbor(bytes);
  if (!(decoded?.value instanceof Map)) throw malformed("no protected header");
  return decoded.value;
}

function kidOf(trusted: Map<unknown, unknown>, unprotected: Map<unknown, unknown>): Uint8Array | null {
  const kids = [trusted, unprotected].filter((map) => map.has(header.kid)).map((map) => map.get(header.kid));
  if (!kids.every(isBytes)) throw malformed("kid is no bytes");
  const [first, second] = kids;
  if (first && second && Buffer.compare(first, second) !== 0) throw malformed("two kids");
  return first ?? null;
}

export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}

/**
 * Names a card whatever form its text has: recompressing it, or the other of ECDSA's two signatures, gives a new text
 * of the same card.
 */
export function cardFingerprint({ protectedHeader, payload }: CoseSign1): string {
  return hash("sha256", Buffer.concat([protectedHeader, payload]), "base64url");
}
