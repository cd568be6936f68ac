import { didYouMean } from "../../config/suggest.ts";
import { type PersonColumn, personColumns } from "../person-columns.ts";
import { parseCsvRecord } from "./csv-record.ts";
import { ImportRefused } from "./import-refused.ts";
import type { ReadOptions } from "./source-row.ts";

const known = Object.keys(personColumns) as PersonColumn[];
/** Exports write it first. It is no column to import: people are found by their external id. */
const exportedId = "id";

export interface CsvHeader {
  readonly delimiter: string;
  /** What each cell of a row is; null where it is left alone. */
  readonly columns: readonly (PersonColumn | null)[];
}

const tidy = (name: string) =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");

const isKnown = (name: string): name is PersonColumn => Object.hasOwn(personColumns, name);

/** Reads the first line of a CSV file, and finds by it what separates the cells. */
export function readHeader(line: string, { ignoreUnknown }: ReadOptions): CsvHeader {
  const candidates = [",", ";", "\t"].map((delimiter) => {
    const cells = parseCsvRecord(line, delimiter);
    const names = typeof cells === "string" ? [] : cells.map(tidy);
    return { delimiter, names, hits: names.filter(isKnown).length };
  });
  const [best] = candidates.sort((a, b) => b.hits - a.hits || b.names.length - a.names.length);
  if (!best || best.hits === 0) {
    // The line is not repeated: without a header it is a person.
    throw new ImportRefused(
      `The first line names no known column. Begin the file with a header such as external_id,given_name,phones. Columns: ${known.join(", ")}.`,
    );
  }
  const { delimiter, names } = best;
  const strange = names.find((name) => !isKnown(name) && name !== exportedId && name !== "");
  if (strange !== undefined && !ignoreUnknown) {
    throw new ImportRefused(
      `The column "${strange}" is not known.${didYouMean(strange, known)} Columns: ${known.join(", ")}. ` +
        "Add --ignore-unknown to leave other columns alone.",
    );
  }
  const twice = names.find((name, index) => isKnown(name) && names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw new ImportRefused(`The column ${twice} is there twice. Put several values into one cell, separated by |.`);
  }
  demandColumns(names);
  return { delimiter, columns: names.map((name) => (isKnown(name) ? name : null)) };
}

function demandColumns(names: readonly string[]): void {
  if (!names.includes("external_id")) {
    throw new ImportRefused("The file has no column external_id: rows are found again by it, so every row needs one.");
  }
  const alone = ["birth_calendar", "birth_estimated"].find((name) => names.includes(name));
  if (alone !== undefined && !names.includes("date_of_birth")) {
    throw new ImportRefused(`The column ${alone} says something of date_of_birth, which the file does not have.`);
  }
}
