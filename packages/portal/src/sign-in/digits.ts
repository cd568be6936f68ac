/** Arabic and Persian digits as the ones that computers count with. */
export function asciiDigits(text: string): string {
  return text.replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String((digit.codePointAt(0) as number) & 0xf));
}

/** The code in whatever was typed or pasted: six digits, perhaps spaced, perhaps with the message around them. */
export function codeIn(text: string): string | null {
  const plain = asciiDigits(text);
  const spaced = /(?<!\d)\d(?:[\s-]?\d){5}(?!\d)/.exec(plain)?.[0];
  return spaced ? spaced.replace(/\D/g, "") : null;
}

export interface DateParts {
  readonly year: string;
  readonly month: string;
  readonly day: string;
}

/** A date of birth as the service reads it, or which rule it breaks. */
export function birthDateOf(
  given: DateParts,
  yearAlone: boolean,
): { date: string } | { wrong: "yearFour" | "dateWhole" } {
  const [year, month, day] = [given.year, given.month, given.day].map((part) => asciiDigits(part).trim()) as [
    string,
    string,
    string,
  ];
  if (!/^\d{4}$/.test(year)) return { wrong: "yearFour" };
  if (!month && !day && yearAlone) return { date: year };
  if (!/^\d{1,2}$/.test(month) || (!/^\d{1,2}$/.test(day) && !(yearAlone && day === ""))) return { wrong: "dateWhole" };
  return {
    date: [year, month, day]
      .filter((part) => part !== "")
      .map((part) => part.padStart(2, "0"))
      .join("-"),
  };
}
