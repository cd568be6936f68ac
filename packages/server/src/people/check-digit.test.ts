import { describe, expect, test } from "vitest";
import { passesLuhn, passesVerhoeff } from "./check-digit.ts";

const withDigit = (stem: string, passes: (digits: string) => boolean) =>
  Array.from({ length: 10 }, (_, digit) => `${stem}${digit}`).filter(passes);

describe.each([
  // Published examples of the two schemes.
  ["Verhoeff", passesVerhoeff, ["2363", "758722", "123451"]],
  ["Luhn", passesLuhn, ["79927398713", "4111111111111111", "18"]],
])("%s", (_name, passes, examples) => {
  test.each(examples)("%s passes", (digits) => expect(passes(digits)).toBe(true));

  test("exactly one check digit fits any stem", () => {
    for (const stem of ["1", "0000", "98765432101", "55512345678"]) expect(withDigit(stem, passes)).toHaveLength(1);
  });

  test("every single wrong digit is found", () => {
    const [good = ""] = withDigit("49927398716", passes);
    for (let at = 0; at < good.length; at += 1) {
      for (let digit = 0; digit < 10; digit += 1) {
        const changed = good.slice(0, at) + digit + good.slice(at + 1);
        expect(passes(changed)).toBe(changed === good);
      }
    }
  });

  test.each(["", "1", "12a4", "1 2"])("%j does not pass", (text) => expect(passes(text)).toBe(false));
});

test("Verhoeff finds every swap of neighbours", () => {
  const [good = ""] = withDigit("1357924680", passesVerhoeff);
  for (let at = 0; at + 1 < good.length; at += 1) {
    const swapped = good.slice(0, at) + good[at + 1] + good[at] + good.slice(at + 2);
    expect(passesVerhoeff(swapped)).toBe(swapped === good);
  }
});
