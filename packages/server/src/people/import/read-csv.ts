import type { PersonColumn } from "../person-columns.ts";
import { type CsvHeader, readHeader } from "./csv-header.ts";
import { parseCsvRecord } from "./csv-record.ts";
import { unguardCell } from "./formula-guard.ts";
import { ImportRefused } from "./import-refused.ts";
import { type ReadOptions, type SourceRow, unreadable } from "./source-row.ts";

/** A cell may hold line breaks, but a quote that is never closed must not swallow the rest of the file. */
const mostLines = 100;
const mostCharacters = 65_536;

const lists: ReadonlySet<PersonColumn> = new Set(["phones", "emails", "national_ids"]);

/** The rows of a CSV file. A row that is written wrongly costs itself alone: reading goes on at the next line. */
export async function* readCsv(
  groups: AsyncIterable<readonly string[]>,
  options: ReadOptions,
): AsyncGenerator<SourceRow[]> {
  const assembler = new RecordAssembler(options);
  for await (const lines of groups) yield assembler.take(lines, false);
  yield assembler.take([], true);
  assembler.demandHeader();
}

class RecordAssembler {
  readonly #options: ReadOptions;
  #header: CsvHeader | null = null;
  #pending: readonly string[] = [];
  /** Of the first line that is pending. */
  #line = 1;

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  demandHeader(): void {
    if (!this.#header)
      throw new ImportRefused("The file is empty. Begin it with a header such as external_id,given_name.");
  }

  /** Every row that is complete with these lines; where they are the last, every row. */
  take(lines: readonly string[], isEnd: boolean): SourceRow[] {
    const all = this.#pending.length === 0 ? lines : [...this.#pending, ...lines];
    const rows: SourceRow[] = [];
    let at = 0;
    while (at < all.length) {
      const first = all[at] ?? "";
      if (this.#header && first.trim() !== "") {
        const taken = this.#takeRow(this.#header, all, at, isEnd);
        if (!taken) break;
        if (taken.row) rows.push(taken.row);
        at += taken.lines;
      } else {
        if (!this.#header && first.trim() !== "" && !/^sep=.$/i.test(first))
          this.#header = readHeader(first, this.#options);
        at += 1;
      }
    }
    this.#pending = all.slice(at);
    this.#line += at;
    return rows;
  }

  #takeRow(
    header: CsvHeader,
    all: readonly string[],
    at: number,
    isEnd: boolean,
  ): { readonly row: SourceRow | null; readonly lines: number } | null {
    const line = this.#line + at;
    let text = all[at] ?? "";
    for (let count = 1; ; count += 1) {
      const cells = parseCsvRecord(text, header.delimiter);
      if (typeof cells !== "string") return { row: toRow(line, header, cells), lines: count };
      const next = all[at + count];
      const isTooLong = count >= mostLines || text.length >= mostCharacters;
      if (cells === "open" && !isTooLong && next === undefined && !isEnd) return null;
      if (cells === "broken" || isTooLong || next === undefined) {
        const isHere = cells === "broken" && count === 1;
        const reason = isHere ? "has text behind a closing quote" : "has a quote that is never closed";
        return { row: unreadable(line, [all[at] ?? ""], reason), lines: 1 };
      }
      text += `\n${next}`;
    }
  }
}

function toRow(line: number, { columns }: CsvHeader, cells: readonly string[]): SourceRow | null {
  if (cells.every((cell) => cell.trim() === "")) return null;
  const surplus = cells.slice(columns.length).some((cell) => cell.trim() !== "");
  if (surplus || cells.length < columns.length) {
    return unreadable(line, cells, `has ${cells.length} cells, and the header ${columns.length}`);
  }
  const values: Partial<Record<PersonColumn, unknown>> = {};
  for (const [index, column] of columns.entries()) {
    if (column === null) continue;
    const cell = unguardCell(cells[index] ?? "");
    values[column] = lists.has(column) ? splitList(cell) : cell;
  }
  return { line, data: cells, values, problems: [] };
}

function splitList(cell: string): string[] {
  return cell
    .split("|")
    .map((item) => unguardCell(item.trim()))
    .filter((item) => item !== "");
}
