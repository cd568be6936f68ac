import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parseSecret } from "./secret.ts";

const encode = (text: string) => Buffer.from(text).toString("base64");

describe("parseSecret", () => {
  it.each(["base64", "base64url", "hex"] as const)("reads %s of 32 random bytes and more", (encoding) => {
    for (const length of [32, 33, 48, 64, 128]) {
      const bytes = randomBytes(length);
      expect(parseSecret(bytes.toString(encoding))).toEqual({ secret: bytes });
    }
  });

  it.each([
    ["31 bytes", randomBytes(31).toString("base64"), "31 bytes"],
    ["31 bytes in hex, which would be more as base64", randomBytes(31).toString("hex"), "31 bytes"],
    ["no known encoding", "päßwörter sind keine Bytes, auch wenn sie lang sind", "base64"],
    ["a typed sentence", "thisisaverylongsentencethatnobodywouldeverguess", "base64"],
    ["one byte again and again", Buffer.alloc(32, 7).toString("base64"), "pattern"],
    ["zeros in hex", "0".repeat(64), "pattern"],
    ["two bytes in turn", "ab12".repeat(16), "pattern"],
    ["a block twice", Buffer.concat(Array(2).fill(randomBytes(16))).toString("hex"), "pattern"],
    ["counting", Buffer.from(Array.from({ length: 32 }, (_, i) => i)).toString("base64"), "pattern"],
    ["encoded text", encode("Correct horse battery staple, and more of it"), "pattern"],
    ["changeme", "changeme".repeat(8), "placeholder"],
    ["CHANGE_ME", "CHANGE_ME_CHANGE_ME_CHANGE_ME_CHANGE_ME_CHANGE_ME", "placeholder"],
    ["an example", "ExampleSecretExampleSecretExampleSecretExampleSecret", "placeholder"],
  ])("refuses %s and does not repeat it", (_, text, reason) => {
    const verdict = parseSecret(text);
    expect(verdict).toEqual({ problem: expect.stringContaining(reason) });
    expect(JSON.stringify(verdict)).not.toContain(text.slice(0, 12));
  });
});
