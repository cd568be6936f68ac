import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatBirthDate } from "./birth-date.ts";
import { toGregorianBirth } from "./calendars.ts";

const ethiopic = (text: string, estimated = false) => toGregorianBirth(text, "ethiopic", estimated);
const umalqura = (text: string, estimated = false) => toGregorianBirth(text, "umalqura", estimated);
const dayOf = (birth: ReturnType<typeof ethiopic>) => birth && formatBirthDate(birth);

describe("days with a known counterpart", () => {
  test.each([
    ["2000-01-01", "2007-09-12"], // the Ethiopian millennium
    ["1966-06-23", "1974-03-02"], // 23 Yekatit, the day of Adwa
    ["2003-13-06", "2011-09-11"], // the sixth day of Pagume, every fourth year
    ["2016-04-28", "2024-01-07"], // Christmas
    ["1990-01-01", "1997-09-11"],
  ])("ethiopic %s is %s", (text, day) => expect(dayOf(ethiopic(text))).toBe(day));

  test.each([
    ["1445-01-01", "2023-07-19"], // the year's first day
    ["1445-09-01", "2024-03-11"], // the first of Ramadan
    ["1444-10-01", "2023-04-21"], // the feast after it
    ["1400-01-01", "1979-11-21"], // by the table; the moon was seen a day earlier in Mecca
  ])("umalqura %s is %s", (text, day) => expect(dayOf(umalqura(text))).toBe(day));
});

test("dates that their calendar does not have are refused", () => {
  for (const text of ["2000-13-06", "2000-14-01", "2000-01-31", "2000-00-01", "2000-01-00", "0800", "99", "2000-1-1"]) {
    expect(ethiopic(text), text).toBeNull();
  }
  for (const text of ["1445-13-01", "1445-01-31", "1299-01-01", "1601", ""]) expect(umalqura(text), text).toBeNull();
});

test("a year or month becomes the gregorian one that holds most of it, as an estimate", () => {
  // Meskerem 1990 to Pagume 1990 is September 1997 to September 1998.
  expect(ethiopic("1990")).toEqual({ year: 1998, estimated: true });
  // Meskerem is 11 September to 10 October, Pagume lies within September.
  expect(ethiopic("1990-01")).toEqual({ year: 1997, month: 9, estimated: true });
  expect(ethiopic("1990-13")).toEqual({ year: 1998, month: 9, estimated: false });
  expect(umalqura("1445")).toEqual({ year: 2024, estimated: true });
  // 1429 began on 10 January 2008 and ended on 28 December.
  expect(umalqura("1429")).toEqual({ year: 2008, estimated: false });
  expect(umalqura("1429", true)).toEqual({ year: 2008, estimated: true });
});

test.each(["ethiopic", "umalqura"] as const)(
  "%s agrees with what ICU knows, on any day of two centuries",
  (calendar) => {
    const known = new Intl.DateTimeFormat(`en-u-ca-${calendar === "umalqura" ? "islamic-umalqura" : calendar}`, {
      ...{ timeZone: "UTC", year: "numeric", month: "2-digit", day: "2-digit" },
    });
    const first = Date.UTC(1890, 0, 1);
    const days = (Date.UTC(2090, 0, 1) - first) / 86_400_000;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: days }), (day) => {
        const date = new Date(first + day * 86_400_000);
        const parts = new Map(known.formatToParts(date).map(({ type, value }) => [type, value]));
        const text = `${parts.get("year")}-${parts.get("month")}-${parts.get("day")}`;
        expect(dayOf(toGregorianBirth(text, calendar, false))).toBe(date.toISOString().slice(0, 10));
      }),
      { numRuns: 500 },
    );
  },
);
