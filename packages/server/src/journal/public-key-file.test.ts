import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readPublicKeys } from "./public-key-file.ts";

const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const jwk = publicKey.export({ format: "jwk" });
const x = String(jwk.x);

describe("a public key that a person gives", () => {
  it.each([
    ["a JWK", JSON.stringify(jwk), [{ keyId: null, x }]],
    ["a JWK with an id", JSON.stringify({ ...jwk, kid: "k1" }), [{ keyId: "k1", x }]],
    [
      "a JWK set",
      JSON.stringify({ keys: [{ ...jwk, kid: "k1" }, jwk] }),
      [
        { keyId: "k1", x },
        { keyId: null, x },
      ],
    ],
    ["a key line", JSON.stringify({ record: "key", keyId: "k1", publicJwk: jwk }), [{ keyId: "k1", x }]],
    ["PEM", publicKey.export({ format: "pem", type: "spki" }).toString(), [{ keyId: null, x }]],
  ])("may be %s", (_name, text, expected) => {
    expect(readPublicKeys(text)).toEqual(expected);
  });

  it.each([
    ["nothing", ""],
    ["text", "hello"],
    ["JSON of something else", '{"a":1}'],
    ["null", "null"],
    ["an empty set", '{"keys":[]}'],
    ["a set with a key of another kind", JSON.stringify({ keys: [jwk, { kty: "EC", crv: "P-256", x: "a", y: "b" }] })],
    ["broken PEM", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"],
    [
      "PEM of another kind",
      generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "pem", type: "spki" }).toString(),
    ],
  ])("is not %s", (_name, text) => {
    expect(readPublicKeys(text)).toBeNull();
  });

  it("is taken from a private key too, whose secret half is left alone", () => {
    expect(readPublicKeys(privateKey.export({ format: "pem", type: "pkcs8" }).toString())).toEqual([
      { keyId: null, x },
    ]);
  });
});
