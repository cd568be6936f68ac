import { isBytes } from "./cose-sign1.ts";
import { decodeStrictCbor } from "./strict-cbor.ts";
import { malformed } from "./unpack.ts";

/** The claims of a card (RFC 8392), with the attributes of MOSIP's claim 169. */
export interface CardClaims {
  readonly iss: string | null;
  readonly sub: string | null;
  /** Seconds. */
  readonly exp: number | null;
  readonly nbf: number | null;
  readonly iat: number | null;
  readonly cti: Uint8Array | null;
  /** By number; what issuers bend is already straightened. */
  readonly attributes: ReadonlyMap<number, unknown>;
}

const claim = { iss: 1, sub: 2, exp: 4, nbf: 5, iat: 6, cti: 7, identity: 169 } as const;

export function parseCardClaims(payload: Uint8Array): CardClaims {
  const claims = integerKeys(decodeStrictCbor(payload)?.value);
  if (!claims) throw malformed("no CWT");
  const attributes = attributesOf(claims.get(claim.identity));
  return {
    iss: textOf(claims.get(claim.iss)),
    sub: textOf(claims.get(claim.sub)),
    exp: instantOf(claims.get(claim.exp)),
    nbf: instantOf(claims.get(claim.nbf)),
    iat: instantOf(claims.get(claim.iat)),
    cti: bytesOf(claims.get(claim.cti)),
    attributes,
  };
}

/** Claim 169 is a map, or a byte string that holds one. */
function attributesOf(value: unknown): ReadonlyMap<number, unknown> {
  const attributes = integerKeys(isBytes(value) ? decodeStrictCbor(value)?.value : value);
  if (!attributes) throw malformed("no claim 169");
  return attributes;
}

/** Keys are integers, or some issuers' decimal texts; a key in both forms is there twice. */
function integerKeys(value: unknown): Map<number, unknown> | null {
  if (!(value instanceof Map)) return null;
  const straightened = new Map<number, unknown>();
  for (const [key, inner] of value as Map<unknown, unknown>) {
    const isDecimal = typeof key === "string" && /^(?:0|[1-9]\d{0,3})$/.test(key);
    const number = isDecimal ? Number(key) : key;
    // What is neither may be there: it means nothing to us.
    if (typeof number !== "number") continue;
    if (straightened.has(number)) throw malformed("a key is there twice");
    straightened.set(number, inner);
  }
  return straightened;
}

function textOf(value: unknown): string | null {
  if (value === undefined) return null;
  if (typeof value !== "string") throw malformed("a claim is no text");
  return value;
}

function instantOf(value: unknown): number | null {
  if (value === undefined) return null;
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) throw malformed("a claim is no time");
  return value;
}

function bytesOf(value: unknown): Uint8Array | null {
  if (value === undefined) return null;
  if (!isBytes(value)) throw malformed("cti is no bytes");
  return value;
}
