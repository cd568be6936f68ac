import { CompiledQuery, type Insertable, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Database } from "./schema.ts";
import type { Queries } from "./store.ts";

/** Rows in one statement, and what is left over in smaller ones: a handful of texts, which both databases keep prepared. */
const sizes = [64, 16, 4, 1] as const;

/** Inserts many rows of the same columns. Building a query for each would cost more than the inserts. */
export async function insertMany<Table extends keyof Database>(
  tx: Queries,
  table: Table,
  columns: readonly (keyof Database[Table] & string)[],
  rows: readonly Insertable<Database[Table]>[],
): Promise<void> {
  let at = 0;
  for (const size of sizes) {
    for (; rows.length - at >= size; at += size) {
      const values = rows.slice(at, at + size).flatMap((row) => {
        return columns.map((column) => (row as Record<string, unknown>)[column]);
      });
      await tx.db.executeQuery(CompiledQuery.raw(insertText(tx, table, columns, size), values));
    }
  }
}

const texts = new Map<string, string>();

function insertText({ kind }: Queries, table: string, columns: readonly string[], size: number): string {
  const key = `${kind} ${table} ${size} ${columns.join()}`;
  const known = texts.get(key);
  if (known !== undefined) return known;
  const place = (index: number) => (kind === "postgres" ? `$${index + 1}` : "?");
  const rows = Array.from({ length: size }, (_row, row) => {
    return `(${columns.map((_column, column) => place(row * columns.length + column)).join(", ")})`;
  });
  const text = `insert into ${table} (${columns.join(", ")}) values ${rows.join(", ")}`;
  texts.set(key, text);
  return text;
}

/** Whether a column has one of many values, which are one parameter however many they are. */
export function isOneOf({ kind }: Queries, column: string, values: readonly string[]): RawBuilder<SqlBool> {
  return kind === "postgres"
    ? sql<SqlBool>`${sql.ref(column)} = any(${values}::text[])`
    : sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`;
}

/**
 * For a process that writes many rows and then ends: more of SQLite's file in memory, and changed pages copied back
 * less often. A server beside it keeps its own settings.
 */
export async function prepareForMany({ db, kind }: Queries): Promise<void> {
  if (kind !== "sqlite") return;
  await sql`pragma cache_size = -65536`.execute(db);
  await sql`pragma wal_autocheckpoint = 16000`.execute(db);
}
