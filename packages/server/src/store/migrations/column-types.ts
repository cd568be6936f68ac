import type { DatabaseKind } from "../store.ts";

/** How each database spells the few types that the tables use. */
export interface ColumnTypes {
  /** Compared byte by byte on both databases, whatever the locale of the server. */
  readonly text: string;
  readonly int: string;
  readonly table: string;
  /** Room in each page for the next version of a row that changes often. */
  readonly busyTable: string;
  /** Rows come and go: what they leave behind is cleared away before it is much. */
  readonly churningTable: string;
}

export const columnTypes: Readonly<Record<DatabaseKind, ColumnTypes>> = {
  sqlite: { text: "text", int: "integer", table: "strict", busyTable: "strict", churningTable: "strict" },
  postgres: {
    text: 'text collate "C"',
    int: "bigint",
    table: "",
    busyTable: "with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05)",
    churningTable: "with (autovacuum_vacuum_scale_factor = 0.02)",
  },
};
