import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkUsername, foldUsername } from "./username.ts";

describe("foldUsername", () => {
  it.each([
    ["Amina", "amina"],
    ["  amina ", "amina"],
    ["AMINA@Example.ORG", "amina@example.org"],
    ["ＡＭＩＮＡ", "amina"],
    ["Jose\u0301", "josé"],
    ["ﬁeld", "field"],
    ["\u00A0amina\u3000", "amina"],
  ])("makes %j one with %j", (spelling, key) => {
    expect(foldUsername(spelling)).toBe(key);
  });

  it("keeps look-alikes of other scripts apart", () => {
    expect(foldUsername("аmina")).not.toBe(foldUsername("amina"));
  });

  it("folding twice changes nothing more", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (name) => {
        expect(foldUsername(foldUsername(name))).toBe(foldUsername(name));
      }),
    );
  });
});

describe("checkUsername", () => {
  it("keeps the spelling people chose", () => {
    expect(checkUsername(" Amina Otieno ")).toBe("Amina Otieno");
    expect(checkUsername("می\u200Cخواهم")).toBe("می\u200Cخواهم");
    expect([...checkUsername("🐐".repeat(256))]).toHaveLength(256);
  });

  it.each([
    ["nothing", "", "empty"],
    ["only spaces", "   ", "empty"],
    ["too much", "a".repeat(257), "longer than 256"],
    ["too much once folded", "ﷺ".repeat(100), "longer than 256"],
    ["a line break", "ami\nna", "invisible"],
    ["NUL", "ami\0na", "invisible"],
    ["an escape", "ami\u001b[31mna", "invisible"],
    ["a zero-width space", "ami\u200Bna", "invisible"],
    ["a direction mark", "ami\u202Ena", "invisible"],
    ["half a character", "ami\uD83Dna", "invisible"],
  ])("refuses %s", (_, username, reason) => {
    expect(() => checkUsername(username)).toThrow(reason);
  });
});
