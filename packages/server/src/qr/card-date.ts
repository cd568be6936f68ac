import { type BirthDate, parseBirthDate } from "../people/birth-date.ts";

/** How an issuer orders the parts of a date; only its trust entry can say that it is another way than ISO's. */
export type DateOrder = "YMD" | "DMY" | "MDY";

const forms: Readonly<
  Record<DateOrder, { readonly pattern: RegExp; readonly places: readonly [number, number, number] }>
> = {
  YMD: { pattern: /^(\d{4})([-/]?)(\d{2})\2(\d{2})$/, places: [1, 3, 4] },
  DMY: { pattern: /^(\d{2})([-/.]?)(\d{2})\2(\d{4})$/, places: [4, 3, 1] },
  MDY: { pattern: /^(\d{2})([-/.]?)(\d{2})\2(\d{4})$/, places: [4, 1, 3] },
};

/** The date of birth on a card, text or integer; null where it is none. */
export function parseCardDate(value: unknown, order: DateOrder): BirthDate | null {
  const text = typeof value === "number" ? String(value).padStart(8, "0") : value;
  if (typeof text !== "string") return null;
  const { pattern, places } = forms[order];
  const match = pattern.exec(text);
  return match && parseBirthDate(places.map((place) => match[place]).join("-"));
}
