/** `open`: a quoted cell goes on in the next line. `broken`: something stands between a closing quote and the next cell. */
export type CsvVerdict = readonly string[] | "open" | "broken";

/**
 * The cells of one record, as RFC 4180 has them. A quote inside a cell that is not quoted is a character like any
 * other: 5" is what people write.
 */
export function parseCsvRecord(text: string, delimiter: string): CsvVerdict {
  if (!text.includes('"')) return text.split(delimiter);
  const cells: string[] = [];
  let at = 0;
  for (;;) {
    if (text[at] !== '"') {
      const end = text.indexOf(delimiter, at);
      cells.push(end < 0 ? text.slice(at) : text.slice(at, end));
      if (end < 0) return cells;
      at = end + 1;
      continue;
    }
    const quoted = readQuoted(text, at + 1);
    if (!quoted) return "open";
    cells.push(quoted.cell);
    at = quoted.end;
    while (text[at] === " " && delimiter !== " ") at += 1;
    if (at >= text.length) return cells;
    if (text[at] !== delimiter) return "broken";
    at += 1;
  }
}

function readQuoted(text: string, start: number): { readonly cell: string; readonly end: number } | null {
  let cell = "";
  for (let from = start; ; ) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return null;
    if (text[quote + 1] !== '"') return { cell: cell + text.slice(from, quote), end: quote + 1 };
    cell += text.slice(from, quote + 1);
    from = quote + 2;
  }
}
