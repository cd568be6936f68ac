import { generateKeyPairSync } from "node:crypto";
import { compactVerify } from "jose";
import { describe, expect, it } from "vitest";
import { checkCheckpoint, signCheckpoint } from "./checkpoint.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const facts = { tenantId: "demo", seq: 12, hash: "ab".repeat(32), at: 1_700_000_000_000, previous: 7 };
const checkpoint = signCheckpoint("journal-1", privateKey, facts);

describe("a checkpoint", () => {
  it("is proven by its key", () => {
    expect(checkCheckpoint(checkpoint, publicKey)).toEqual({ facts });
  });

  it("is a JWS that another library can check", async () => {
    const { payload, protectedHeader } = await compactVerify(checkpoint.signature, publicKey);
    expect(JSON.parse(Buffer.from(payload).toString())).toEqual(facts);
    expect(protectedHeader).toEqual({ alg: "EdDSA", typ: "fieldgate-checkpoint+jws", kid: "journal-1" });
  });

  it.each(["tenantId", "hash", "keyId"] as const)("does not hold with another %s", (name) => {
    expect(checkCheckpoint({ ...checkpoint, [name]: "other" }, publicKey)).toHaveProperty("problem");
  });

  it.each(["seq", "at"] as const)("does not hold with another %s", (name) => {
    expect(checkCheckpoint({ ...checkpoint, [name]: 13 }, publicKey)).toHaveProperty("problem");
  });

  it("does not hold for another key", () => {
    expect(checkCheckpoint(checkpoint, generateKeyPairSync("ed25519").publicKey)).toHaveProperty("problem");
  });

  it("does not hold with any character of its signature changed, spellings of the same bytes included", () => {
    for (let index = 0; index < checkpoint.signature.length; index++) {
      for (const replacement of ["A", "B", ".", "=", ""]) {
        const signature = checkpoint.signature.slice(0, index) + replacement + checkpoint.signature.slice(index + 1);
        if (signature === checkpoint.signature) continue;
        expect(checkCheckpoint({ ...checkpoint, signature }, publicKey), `${index} ${replacement}`).toHaveProperty(
          "problem",
        );
      }
    }
  });

  it("is not any other text that the key has signed", () => {
    const foreign = signCheckpoint("journal-1", privateKey, facts).signature.split(".");
    expect(checkCheckpoint({ ...checkpoint, signature: `${foreign[0]}.${foreign[1]}` }, publicKey)).toHaveProperty(
      "problem",
    );
    expect(checkCheckpoint({ ...checkpoint, signature: "" }, publicKey)).toHaveProperty("problem");
  });
});
