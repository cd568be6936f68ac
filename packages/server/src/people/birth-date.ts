/** A date of birth as well as it is known: a year, a year and a month, or a day. Always gregorian at rest. */
export interface BirthDate {
  readonly year: number;
  readonly month?: number;
  readonly day?: number;
  /** Someone guessed it, as is common where births were not registered. */
  readonly estimated: boolean;
}

export type BirthPrecision = "year" | "month" | "day";

const iso = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/;

/** Reads `YYYY`, `YYYY-MM` or `YYYY-MM-DD`; null where there is no such date. */
export function parseBirthDate(text: string, estimated = false): BirthDate | null {
  const match = iso.exec(text);
  if (!match) return null;
  const [year, month, day] = match.slice(1).map((part) => (part === undefined ? undefined : Number(part)));
  if (year === undefined || year < 1850) return null;
  if (month === undefined) return { year, estimated };
  if (month < 1 || month > 12) return null;
  if (day === undefined) return { year, month, estimated };
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return day >= 1 && day <= lastDay ? { year, month, day, estimated } : null;
}

export function precisionOf(birth: BirthDate): BirthPrecision {
  if (birth.day !== undefined) return "day";
  return birth.month === undefined ? "year" : "month";
}

export function formatBirthDate({ year, month, day }: BirthDate): string {
  const two = (part: number) => String(part).padStart(2, "0");
  const parts = [String(year).padStart(4, "0"), ...[month, day].filter((part) => part !== undefined).map(two)];
  return parts.join("-");
}

/**
 * Whether what a person says fits the record, as far as the record goes. Saying less than the record knows does not
 * fit: a year alone must not open a record that has the day.
 */
export function fitsRecord(record: BirthDate, said: BirthDate): boolean {
  if (said.year !== record.year) return false;
  if (record.month !== undefined && said.month !== record.month) return false;
  return record.day === undefined || said.day === record.day;
}

/** Whether two dates cannot be of one person, as far as both go. */
export function contradicts(a: BirthDate, b: BirthDate): boolean {
  if (a.year !== b.year) return true;
  if (a.month === undefined || b.month === undefined) return false;
  if (a.month !== b.month) return true;
  return a.day !== undefined && b.day !== undefined && a.day !== b.day;
}
