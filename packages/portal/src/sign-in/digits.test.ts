import { describe, expect, test } from "vitest";
import { asciiDigits, birthDateOf, codeIn } from "./digits.ts";

test.each([
  ["123456", "123456"],
  [" 123 456 ", "123456"],
  ["123-456", "123456"],
  ["٠١٢٣٤٥", "012345"],
  ["۹۸۷۶۵۴", "987654"],
  ["Your code is 004217.\n\n@id.example.org #004217", "004217"],
  ["12345", null],
  ["1234567", null],
  ["", null],
  ["+254700000111", null],
])("the code in %j is %j", (text, code) => {
  expect(codeIn(text)).toBe(code);
});

test("digits of all kinds in one number", () => {
  expect(asciiDigits("٢٠۲0 a")).toBe("2020 a");
});

describe("a date of birth", () => {
  const of = (day: string, month: string, year: string, yearAlone = true) =>
    birthDateOf({ year, month, day }, yearAlone);

  test("whole, in any digits", () => {
    expect(of("3", "7", "1975")).toEqual({ date: "1975-07-03" });
    expect(of("٣٠", "6", "١٩٧٥")).toEqual({ date: "1975-06-30" });
  });

  test("a year, or year and month, where that is accepted", () => {
    expect(of("", "", "1950")).toEqual({ date: "1950" });
    expect(of("", "6", "1950")).toEqual({ date: "1950-06" });
    expect(of("", "", "1950", false)).toEqual({ wrong: "dateWhole" });
    expect(of("", "6", "1950", false)).toEqual({ wrong: "dateWhole" });
  });

  test("what is no date", () => {
    expect(of("1", "1", "75")).toEqual({ wrong: "yearFour" });
    expect(of("1", "", "1975")).toEqual({ wrong: "dateWhole" });
    expect(of("x", "1", "1975")).toEqual({ wrong: "dateWhole" });
  });
});
