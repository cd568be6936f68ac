import { describe, expect, test } from "vitest";
import { type BirthDate, contradicts, fitsRecord, formatBirthDate, parseBirthDate, precisionOf } from "./birth-date.ts";

const date = (text: string): BirthDate => {
  const birth = parseBirthDate(text);
  if (!birth) throw new Error(`${text} is no date`);
  return birth;
};

test.each([
  ["1984", "year"],
  ["1984-02", "month"],
  ["1984-02-29", "day"],
])("%s is known to the %s, and written as it was read", (text, precision) => {
  expect(precisionOf(date(text))).toBe(precision);
  expect(formatBirthDate(date(text))).toBe(text);
});

test.each(["", "84", "1984-13", "1984-00", "1985-02-29", "1984-02-30", "1984-2-9", "0012-01-01", "1984-01-01T00:00"])(
  "%j is no date",
  (text) => expect(parseBirthDate(text)).toBeNull(),
);

describe("fits the record", () => {
  test.each([
    ["1984-05-06", "1984-05-06", true],
    ["1984-05-06", "1984-05-07", false],
    ["1984-05-06", "1984-05", false],
    ["1984-05-06", "1984", false],
    ["1984-05", "1984-05-31", true],
    ["1984-05", "1984-06-01", false],
    ["1984", "1984-12-31", true],
    ["1984", "1984", true],
    ["1984", "1985", false],
  ])("a record of %s, said %s: %s", (record, said, fits) => expect(fitsRecord(date(record), date(said))).toBe(fits));
});

test.each([
  ["1984", "1984-05-06", false],
  ["1984-05", "1984-05-06", false],
  ["1984-05", "1984-06-06", true],
  ["1984-05-06", "1984-05-07", true],
  ["1984", "1985", true],
])("%s and %s contradict each other: %s", (a, b, verdict) => expect(contradicts(date(a), date(b))).toBe(verdict));
