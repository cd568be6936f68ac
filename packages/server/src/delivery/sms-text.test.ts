import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { smsText } from "./sms-text.ts";

const ucs2 = (bytes: Buffer) => Buffer.from(bytes).swap16().toString("utf16le");

describe("a text as SMS", () => {
  test("is GSM 03.38 where every character is in it, at one octet each, two behind an escape", () => {
    expect(smsText("@£ Åé{}€\n#1", 1)).toEqual({
      alphabet: "gsm",
      parts: [Buffer.from([0, 1, 0x20, 0x0e, 5, 0x1b, 0x28, 0x1b, 0x29, 0x1b, 0x65, 10, 0x23, 0x31])],
    });
  });

  test("is UCS-2 as soon as one character is not", () => {
    const { alphabet, parts } = smsText("رمزك 123456", 1);
    expect(alphabet).toBe("ucs2");
    expect(ucs2(parts[0] as Buffer)).toBe("رمزك 123456");
  });

  test.each([
    ["a".repeat(160), [160]],
    ["a".repeat(161), [159, 14]],
    ["ع".repeat(70), [140]],
    ["ع".repeat(71), [140, 14]],
    // The escape pair at the border goes to the next part as a whole.
    [`${"a".repeat(152)}€${"b".repeat(20)}`, [158, 28]],
    [`${"ع".repeat(66)}😀${"ع".repeat(20)}`, [138, 50]],
  ])("is cut where a part is full, and never inside a character", (text, sizes) => {
    expect(smsText(text, 1).parts.map((part) => part.length)).toEqual(sizes);
  });

  test("parts carry one reference, their count and their number, and add up to the whole", () => {
    const arabic = fc.string({ unit: fc.constantFrom(..."رمزك هو😀12"), minLength: 71, maxLength: 600 });
    fc.assert(
      fc.property(arabic, fc.nat(300), (text, reference) => {
        const { parts, alphabet } = smsText(text, reference);
        fc.pre(alphabet === "ucs2");
        parts.forEach((part, index) => {
          expect([...part.subarray(0, 6)]).toEqual([5, 0, 3, reference & 255, parts.length, index + 1]);
          expect(part.length).toBeLessThanOrEqual(140);
        });
        expect(parts.map((part) => ucs2(part.subarray(6))).join("")).toBe(text);
      }),
      { numRuns: 100 },
    );
  });
});
