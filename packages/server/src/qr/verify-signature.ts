import { constants, createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto";
import { encode } from "cbor2";
import type { CoseSign1, QrAlgorithm } from "./cose-sign1.ts";

/** The bytes that a COSE_Sign1 signs (RFC 9052, 4.4). */
export function signedBytes({ protectedHeader, payload }: Pick<CoseSign1, "protectedHeader" | "payload">): Uint8Array {
  // A Node Buffer is written as an object, not as bytes: hence the copies.
  return encode(["Signature1", new Uint8Array(protectedHeader), new Uint8Array(), new Uint8Array(payload)]);
}

const keyForms: Readonly<Record<QrAlgorithm, { readonly kty: string; readonly crv?: string }>> = {
  EdDSA: { kty: "OKP", crv: "Ed25519" },
  ES256: { kty: "EC", crv: "P-256" },
  ES384: { kty: "EC", crv: "P-384" },
  PS256: { kty: "RSA" },
  RS256: { kty: "RSA" },
};

/** The public key of a JWK, if it is one for this algorithm; a private half is dropped. */
export function importIssuerKey(algorithm: QrAlgorithm, jwk: JsonWebKey): KeyObject | null {
  const { kty, crv } = keyForms[algorithm];
  if (jwk.kty !== kty || (crv !== undefined && jwk.crv !== crv)) return null;
  const { kty: type, crv: curve, x, y, n, e } = jwk;
  const given = Object.entries({ kty: type, crv: curve, x, y, n, e }).filter(([, value]) => value !== undefined);
  try {
    const key = createPublicKey({ key: Object.fromEntries(given), format: "jwk" });
    const bits = key.asymmetricKeyDetails?.modulusLength;
    return bits === undefined || bits >= 2048 ? key : null;
  } catch {
    // A key that cannot be read is no key; whoever adds it is told so.
    return null;
  }
}

const raw = "ieee-p1363";

/** ECDSA signatures are r‖s, as COSE has them. */
export function isSignedBy(message: CoseSign1, key: KeyObject): boolean {
  const bytes = signedBytes(message);
  const { signature } = message;
  switch (message.algorithm) {
    case "EdDSA":
      return signature.length === 64 && verify(null, bytes, key, signature);
    case "ES256":
      return signature.length === 64 && verify("sha256", bytes, { key, dsaEncoding: raw }, signature);
    case "ES384":
      return signature.length === 96 && verify("sha384", bytes, { key, dsaEncoding: raw }, signature);
    case "PS256":
      return verify("sha256", bytes, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }, signature);
    case "RS256":
      return verify("sha256", bytes, { key, padding: constants.RSA_PKCS1_PADDING }, signature);
  }
}
