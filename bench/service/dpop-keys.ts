import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  randomUUID,
  sign,
} from "node:crypto";

/** A device's key for DPoP proofs, in a form that can be sent to another process. */
export interface DeviceKey {
  readonly jwk: JsonWebKey;
  /** RFC 7638 thumbprint. */
  readonly jkt: string;
}

export function newDeviceKey(): DeviceKey {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = privateKey.export({ format: "jwk" });
  const { crv, kty, x, y } = jwk;
  const jkt = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
  return { jwk, jkt };
}

/** Signs proofs for one address with one key. */
export class ProofSigner {
  readonly #key: KeyObject;
  readonly #header: string;
  readonly #claims: Readonly<Record<string, unknown>>;

  constructor({ jwk }: DeviceKey, claims: { readonly htm: string; readonly htu: string }) {
    const { crv, kty, x, y } = jwk;
    this.#key = createPrivateKey({ key: jwk, format: "jwk" });
    this.#header = encode({ alg: "ES256", typ: "dpop+jwt", jwk: { crv, kty, x, y } });
    this.#claims = claims;
  }

  sign(nonce: string): string {
    const iat = Math.floor(Date.now() / 1000);
    const signed = `${this.#header}.${encode({ jti: randomUUID(), iat, nonce, ...this.#claims })}`;
    const signature = sign("sha256", Buffer.from(signed), { key: this.#key, dsaEncoding: "ieee-p1363" });
    return `${signed}.${signature.toString("base64url")}`;
  }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
