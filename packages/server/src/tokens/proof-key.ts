import { createPublicKey, hash, type JsonWebKey, type KeyObject, verify } from "node:crypto";
import { verifyEs256 } from "./es256.ts";

/** A public key that came with a proof. */
export interface ProofKey {
  /** RFC 7638 thumbprint. */
  readonly jkt: string;
  verify(text: string, signature: Uint8Array): boolean;
}

interface Kind {
  readonly kty: "EC" | "OKP";
  readonly crv: "P-256" | "Ed25519";
  verify(key: KeyObject, text: string, signature: Uint8Array): boolean;
}

const p256: Kind = { kty: "EC", crv: "P-256", verify: verifyEs256 };
const ed25519: Kind = {
  kty: "OKP",
  crv: "Ed25519",
  verify: (key, text, signature) => verify(null, Buffer.from(text), key, signature),
};
const kinds = new Map<unknown, Kind>([
  ["ES256", p256],
  ["EdDSA", ed25519],
  ["Ed25519", ed25519],
]);

/** 32 bytes in base64url: every coordinate of both curves. */
const coordinate = /^[A-Za-z0-9_-]{43}$/;

/** Null where the algorithm is not one of ours, the key is none of it, or more than its public half was sent. */
export function readProofKey(alg: unknown, jwk: unknown): ProofKey | null {
  const kind = kinds.get(alg);
  if (!kind || typeof jwk !== "object" || jwk === null || "d" in jwk) return null;
  const { kty, crv, x, y } = jwk as Record<string, unknown>;
  if (kty !== kind.kty || crv !== kind.crv) return null;
  const point = kind === p256 ? { x, y } : { x };
  if (!Object.values(point).every((value) => typeof value === "string" && coordinate.test(value))) return null;
  const key = importKey({ crv, kty, ...point } as JsonWebKey);
  return (
    key && {
      // The members in the order of their names, and no others (RFC 7638, 3.2).
      jkt: hash("sha256", JSON.stringify({ crv, kty, ...point }), "base64url"),
      verify: (text, signature) => kind.verify(key, text, signature),
    }
  );
}

function importKey(jwk: JsonWebKey): KeyObject | null {
  try {
    return createPublicKey({ key: jwk, format: "jwk" });
  } catch {
    // Its form is right, so what Node refuses is the point: it does not lie on the curve.
    return null;
  }
}
