/** Every script's decimal digits and their ASCII ones; made when first needed, from what ICU knows. */
let digits: ReadonlyMap<string, string> | undefined;

function knownDigits(): ReadonlyMap<string, string> {
  if (digits) return digits;
  const found = new Map<string, string>();
  for (const numberingSystem of Intl.supportedValuesOf("numberingSystem")) {
    const format = new Intl.NumberFormat("en", { numberingSystem, useGrouping: false });
    const written = [...format.format(9_876_543_210)];
    if (written.length !== 10) continue;
    for (const [index, digit] of written.entries()) found.set(digit, String(9 - index));
  }
  digits = found;
  return found;
}

/** Writes Arabic-Indic, Devanagari, full-width and all other decimal digits as 0 to 9. */
export function foldDigits(text: string): string {
  return text.replace(/[^\P{Nd}0-9]/gu, (digit) => knownDigits().get(digit) ?? digit);
}
