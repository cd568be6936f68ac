import { randomUUID } from "node:crypto";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";

/** A client's key for DPoP proofs (RFC 9449). */
export class DpopKey {
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;

  private constructor(privateKey: CryptoKey, jwk: JWK) {
    this.privateKey = privateKey;
    this.jwk = jwk;
  }

  static async create(alg = "ES256"): Promise<DpopKey> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    return new DpopKey(privateKey, await exportJWK(publicKey));
  }

  /** A proof with these claims; `header` overrides parts of its header. */
  proof(claims: Record<string, unknown>, header: Record<string, unknown> = {}): Promise<string> {
    return new SignJWT({ jti: randomUUID(), iat: Math.floor(Date.now() / 1000), ...claims })
      .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk: this.jwk, ...header })
      .sign(this.privateKey);
  }
}
