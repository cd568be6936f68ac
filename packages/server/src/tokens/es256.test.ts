import { generateKeyPairSync, sign, verify } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { signEs256, verifyEs256 } from "./es256.ts";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const stranger = generateKeyPairSync("ec", { namedCurve: "P-256" });

test("signs what Node's own form of ES256 verifies", () => {
  // Often enough that numbers with leading zeros, and with a first bit set, are among them.
  for (let round = 0; round < 2000; round += 1) {
    const text = `text ${round}`;
    const signature = signEs256(privateKey, text);
    expect(signature).toHaveLength(64);
    const form = { key: publicKey, dsaEncoding: "ieee-p1363" } as const;
    expect(verify("sha256", Buffer.from(text), form, signature), text).toBe(true);
  }
});

test("verifies what Node's own form of ES256 signs", () => {
  for (let round = 0; round < 2000; round += 1) {
    const text = `text ${round}`;
    const signature = sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
    expect(verifyEs256(publicKey, text, signature), text).toBe(true);
  }
});

test("refuses another text, another key and another signature", () => {
  const signature = signEs256(privateKey, "text");
  expect(verifyEs256(publicKey, "text.", signature)).toBe(false);
  expect(verifyEs256(stranger.publicKey, "text", signature)).toBe(false);
  for (let index = 0; index < signature.length; index += 1) {
    const changed = Buffer.from(signature);
    changed[index] = (changed[index] as number) ^ 1;
    expect(verifyEs256(publicKey, "text", changed), `byte ${index}`).toBe(false);
  }
});

test("refuses any other bytes without an error, numbers that are no number of the curve among them", () => {
  const zeros = Buffer.alloc(64);
  const ones = Buffer.alloc(64, 0xff);
  const half = Buffer.concat([signEs256(privateKey, "text").subarray(0, 32), zeros.subarray(32)]);
  const der = sign("sha256", Buffer.from("text"), privateKey);
  for (const bytes of [zeros, ones, half, der]) expect(verifyEs256(publicKey, "text", bytes)).toBe(false);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      expect(verifyEs256(publicKey, "text", bytes)).toBe(false);
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), (bytes) => {
      expect(verifyEs256(publicKey, "text", bytes)).toBe(false);
    }),
  );
});
