import { toBinary, toBytes } from "../encoding.ts";
import type { ServerClock } from "../server-clock.ts";
import { base64url } from "./base64url.ts";

/*
 * Proofs of possession (RFC 9449) by WebCrypto alone. `jose` does this too, and would be a fifth of the library's weight for one
 * fixed header, five claims and one algorithm; nothing here parses or trusts foreign input.
 */

/** Makes the proof for one request. */
export type Prover = (method: string, url: string, nonce: string | undefined) => Promise<string>;

/** A key pair for one session. */
export function generatePair(extractable: boolean): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, extractable, ["sign", "verify"]);
}

const encode = (value: unknown) => base64url(toBinary(toBytes(JSON.stringify(value))));

export function createProver({ privateKey, publicKey }: CryptoKeyPair, clock: ServerClock): Prover {
  return async (htm, htu, nonce) => {
    const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", publicKey);
    const header = { typ: "dpop+jwt", alg: "ES256", jwk: { kty, crv, x, y } };
    // The server looks at the nonce, not at `iat`: device clocks are wrong.
    const iat = Math.floor(clock.now() / 1000);
    const signed = `${encode(header)}.${encode({ jti: crypto.randomUUID(), htm, htu, iat, nonce })}`;
    const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, privateKey, toBytes(signed));
    return `${signed}.${base64url(toBinary(signature))}`;
  };
}
