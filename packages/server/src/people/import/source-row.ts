import type { FieldProblem, PersonValues } from "../person-columns.ts";

/** One row of a file, as it stands there. */
export interface SourceRow {
  /** Where it begins, counted from 1. */
  readonly line: number;
  /** The row as the file writes it: the cells, or the JSON text alone. */
  readonly data: readonly string[];
  readonly values: PersonValues;
  /** Why the row cannot even be read; empty where it can. */
  readonly problems: readonly FieldProblem[];
}

export function unreadable(line: number, data: readonly string[], reason: string, field = ""): SourceRow {
  return { line, data, values: {}, problems: [{ field, reason }] };
}

export interface ReadOptions {
  /** Leave columns alone that nobody knows, instead of refusing them. */
  readonly ignoreUnknown: boolean;
}
