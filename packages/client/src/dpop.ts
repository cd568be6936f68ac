import { base64url, toBytes } from "./encoding.ts";

/*
 * Proofs of possession (RFC 9449) by WebCrypto alone. `jose` does this too, and would be a fifth of the library's weight for one
 * fixed header, five claims and one algorithm; nothing here parses or trusts foreign input.
 */

/** A key pair for one session. */
export function generatePair(extractable: boolean): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, extractable, ["sign", "verify"]);
}

const encode = (value: unknown) => base64url(toBytes(JSON.stringify(value)));

/** A proof for one request. The server looks at the nonce, not at `iat`: device clocks are wrong. */
export async function createProof(
  { privateKey, publicKey }: CryptoKeyPair,
  request: { readonly method: string; readonly url: string; readonly nonce: string | undefined; readonly now: number },
): Promise<string> {
  const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", publicKey);
  const header = { typ: "dpop+jwt", alg: "ES256", jwk: { kty, crv, x, y } };
  const claims = {
    jti: crypto.randomUUID(),
    htm: request.method,
    htu: request.url,
    iat: Math.floor(request.now / 1000),
    nonce: request.nonce,
  };
  const signed = `${encode(header)}.${encode(claims)}`;
  const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, privateKey, toBytes(signed));
  return `${signed}.${base64url(signature)}`;
}
