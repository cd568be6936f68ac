import { calculateJwkThumbprint, exportJWK, FlattenedSign, generateKeyPair, type JWK } from "jose";
import { describe, expect, test } from "vitest";
import { readProofKey } from "./proof-key.ts";

describe.each(["ES256", "EdDSA", "Ed25519"])("a key for %s", (alg) => {
  async function newPair() {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const jwk = await exportJWK(publicKey);
    const {
      payload,
      protected: header,
      signature,
    } = await new FlattenedSign(new TextEncoder().encode("{}")).setProtectedHeader({ alg }).sign(privateKey);
    return { jwk, privateJwk: await exportJWK(privateKey), text: `${header}.${payload}`, signature };
  }
  const read = (jwk: unknown) => readProofKey(alg, jwk);

  test("has the thumbprint of RFC 7638, whatever else came with it", async () => {
    const { jwk } = await newPair();
    const jkt = await calculateJwkThumbprint(jwk);
    expect(read(jwk)?.jkt).toBe(jkt);
    const { kty, crv, ...rest } = jwk;
    expect(read({ use: "sig", kid: "mine", ...rest, crv, kty, alg })?.jkt).toBe(jkt);
  });

  test("verifies what its other half has signed, and nothing else", async () => {
    const { jwk, text, signature } = await newPair();
    const bytes = Buffer.from(signature, "base64url");
    expect(read(jwk)?.verify(text, bytes)).toBe(true);
    expect(read(jwk)?.verify(`${text}.`, bytes)).toBe(false);
    expect(read(jwk)?.verify(text, bytes.subarray(1))).toBe(false);
    expect(read(jwk)?.verify(text, Buffer.alloc(0))).toBe(false);
    expect(read((await newPair()).jwk)?.verify(text, bytes)).toBe(false);
  });

  test("is none if it is another's, half of one, or more than its public half", async () => {
    const { jwk, privateJwk } = await newPair();
    const others: unknown[] = [
      { ...jwk, kty: "RSA" },
      { ...jwk, crv: "P-384" },
      { ...jwk, x: undefined },
      { ...jwk, x: `${jwk.x}A` },
      { ...jwk, x: `${jwk.x?.slice(1)}=` },
      { ...jwk, x: 7 },
      [jwk],
      JSON.stringify(jwk),
      null,
      undefined,
      privateJwk,
    ];
    for (const other of others) expect(read(other), JSON.stringify(other)).toBeNull();
    const { jwk: foreign } = alg === "ES256" ? await pairOf("Ed25519") : await pairOf("ES256");
    expect(read(foreign)).toBeNull();
  });
});

test("a point off the curve is no key", async () => {
  const { jwk } = await pairOf("ES256");
  expect(readProofKey("ES256", { ...jwk, y: jwk.x })).toBeNull();
  expect(readProofKey("ES256", { ...jwk, x: "A".repeat(43), y: "A".repeat(43) })).toBeNull();
});

test("other algorithms have no keys here", async () => {
  const { jwk } = await pairOf("ES256");
  for (const alg of ["none", "HS256", "ES384", "RS256", "es256", "", "__proto__", undefined, null, ["ES256"]]) {
    expect(readProofKey(alg, jwk), String(alg)).toBeNull();
  }
});

async function pairOf(alg: string): Promise<{ jwk: JWK }> {
  return { jwk: await exportJWK((await generateKeyPair(alg)).publicKey) };
}
