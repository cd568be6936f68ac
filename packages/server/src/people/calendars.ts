import {
  type Calendar,
  CalendarDate,
  EthiopicCalendar,
  GregorianCalendar,
  IslamicUmalquraCalendar,
  toCalendar,
} from "@internationalized/date";
import { type BirthDate, parseBirthDate } from "./birth-date.ts";

/** The calendars in which a date of birth may be written. */
export const birthCalendars = ["gregorian", "ethiopic", "umalqura"] as const;
export type BirthCalendar = (typeof birthCalendars)[number];

interface ForeignCalendar {
  readonly calendar: Calendar;
  /** The years its tables or rules are good for, as far as living people go. */
  readonly years: readonly [first: number, last: number];
}

const foreign: Readonly<Record<Exclude<BirthCalendar, "gregorian">, ForeignCalendar>> = {
  ethiopic: { calendar: new EthiopicCalendar(), years: [1843, 2200] },
  umalqura: { calendar: new IslamicUmalquraCalendar(), years: [1300, 1600] },
};
const gregorian = new GregorianCalendar();
const written = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/;

/**
 * A date of birth in the gregorian calendar, from `YYYY`, `YYYY-MM` or `YYYY-MM-DD` of any of the calendars; null where
 * that calendar has no such date. A year or month that lies in two gregorian ones becomes the one that holds most of
 * its days, and is marked as estimated, because it may be the other.
 */
export function toGregorianBirth(text: string, calendar: BirthCalendar, estimated: boolean): BirthDate | null {
  if (calendar === "gregorian") return parseBirthDate(text, estimated);
  const match = written.exec(text);
  if (!match) return null;
  const [year = 0, month, day] = match.slice(1).map((part) => (part === undefined ? undefined : Number(part)));
  const { calendar: own, years } = foreign[calendar];
  if (year < years[0] || year > years[1]) return null;
  if (month !== undefined && day !== undefined) {
    const date = exactDate(own, year, month, day);
    return date && { ...partsOf(date), estimated };
  }
  const first = exactDate(own, year, month ?? 1, 1);
  if (!first) return null;
  const next = first.add(month === undefined ? { years: 1 } : { months: 1 });
  return mostOf(partsOf(first), partsOf(next.subtract({ days: 1 })), month !== undefined, estimated);
}

/** `CalendarDate` moves a day that is not there to the nearest one that is; we want to know instead. */
function exactDate(calendar: Calendar, year: number, month: number, day: number): CalendarDate | null {
  if (month < 1 || day < 1) return null;
  const date = new CalendarDate(calendar, year, month, day);
  return date.month === month && date.day === day ? date : null;
}

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

function partsOf(date: CalendarDate): Day {
  const { year, month, day } = toCalendar(date, gregorian);
  return { year, month, day };
}

/** The gregorian year or month in which most days of a span lie: that of the day in its middle. */
function mostOf(first: Day, last: Day, byMonth: boolean, estimated: boolean): BirthDate {
  const time = ({ year, month, day }: Day) => Date.UTC(year, month - 1, day);
  const middle = new Date((time(first) + time(last)) / 2);
  const year = middle.getUTCFullYear();
  const isSure = first.year === last.year && (!byMonth || first.month === last.month);
  return {
    year,
    ...(byMonth && { month: middle.getUTCMonth() + 1 }),
    estimated: estimated || !isSure,
  };
}
