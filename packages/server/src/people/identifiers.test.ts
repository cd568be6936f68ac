import { describe, expect, test } from "vitest";
import { canonicalEmail, canonicalNationalId, canonicalPhone, parseRecipient } from "./identifiers.ts";

describe("phone numbers", () => {
  test.each([
    "+254712345678",
    "+254 712 345 678",
    "+254 (712) 345-678",
    "0712345678",
    "0712 345 678",
    "00254712345678".replace(/^00/, "+"),
    "＋２５４７１２３４５６７８",
    "+٢٥٤٧١٢٣٤٥٦٧٨",
    "٠٧١٢٣٤٥٦٧٨",
    "०७१२३४५६७८",
  ])("%s is one number", (text) => expect(canonicalPhone(text, "KE")).toBe("+254712345678"));

  test.each(["", "12", "phone", "+254712345678 ext 5", "+254712345678;5", "call 0712345678", "+1".repeat(40)])(
    "%j is none",
    (text) => expect(canonicalPhone(text, "KE")).toBeNull(),
  );

  test("without a country only international numbers are numbers", () => {
    expect(canonicalPhone("0712345678", undefined)).toBeNull();
    expect(canonicalPhone("+254712345678", undefined)).toBe("+254712345678");
  });
});

describe("email addresses", () => {
  test("case and the form of the domain do not make another account", () => {
    const same = ["Anna@Example.org", "anna@example.org", "ANNA@EXAMPLE.ORG.", " anna@example.org "];
    expect(new Set(same.map((text) => canonicalEmail(text)?.identity))).toEqual(new Set(["anna@example.org"]));
    expect(canonicalEmail("anna@bücher.example")?.identity).toBe("anna@xn--bcher-kva.example");
  });

  test("look-alikes share a budget and never an account", () => {
    const [plain, wide] = [canonicalEmail("anna@example.org"), canonicalEmail("ａnna@example.org")];
    expect(wide?.budget).toBe(plain?.budget);
    expect(wide?.identity).not.toBe(plain?.identity);
    expect(canonicalEmail("аnna@example.org")?.identity).not.toBe(plain?.identity);
  });

  test("a tag is another address with the same budget", () => {
    expect(canonicalEmail("anna+a@example.org")).toEqual({
      identity: "anna+a@example.org",
      budget: "anna@example.org",
    });
    expect(canonicalEmail("+a@example.org")?.budget).toBe("+a@example.org");
  });

  test.each([
    "anna",
    "@example.org",
    "anna@",
    "a b@example.org",
    "anna@example",
    "a@b@",
    ".a@example.org",
    '"a"@x.org',
  ])("%j is none", (text) => expect(canonicalEmail(text)).toBeNull());
});

describe("national ID numbers", () => {
  test("script, case and separators do not matter, leading zeros do", () => {
    const same = ["0012-345 67a", "00 12.34/567A", "００１２３４５６７Ａ", "٠٠١٢٣٤٥٦٧a"];
    expect(new Set(same.map(canonicalNationalId))).toEqual(new Set(["001234567A"]));
    expect(canonicalNationalId("1234567")).not.toBe(canonicalNationalId("01234567"));
  });

  test.each(["", "---", "12$4", "1".repeat(65), "12\u000034"])("%j is none", (text) =>
    expect(canonicalNationalId(text)).toBeNull(),
  );
});

test("a recipient is a phone number or an address", () => {
  expect(parseRecipient("anna＠example.org", "KE")?.kind).toBe("email");
  expect(parseRecipient("0712345678", "KE")).toMatchObject({ kind: "phone", identity: "+254712345678" });
  expect(parseRecipient("nobody", "KE")).toBeNull();
});
