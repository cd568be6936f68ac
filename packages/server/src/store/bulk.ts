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
  /** What happens to rows that are there already: the end of the statement, the same text each time. */
  onConflict = "",
): Promise<void> {
  let at = 0;
  for (const size of sizes) {
    for (; rows.length - at >= size; at += size) {
      const values = rows.slice(at, at + size).flatMap((row) => {
        return columns.map((column) => (row as Record<string, unknown>)[column]);
      });
      await tx.db.executeQuery(CompiledQuery.raw(insertText(tx, table, columns, size, onConflict), values));
    }
  }
}

const texts = new Map<string, string>();

function insertText({ kind }: Queries, table: string, columns: readonly string[], size: number, end: string): string {
  const key = `${kind} ${table} ${size} ${columns.join()} ${end}`;
  const known = texts.get(key);
  if (known !== undefined) return known;
  const place = (index: number) => (kind === "postgres" ? `$${index + 1}` : "?");
  const rows = Array.from({ length: size }, (_row, row) => {
    return `(${columns.map((_column, column) => place(row * columns.length + column)).join(", ")})`;
  });
  const text = `insert into ${table} (${columns.join(", ")}) values ${rows.join(", ")} ${end}`;
  texts.set(key, text);
  return text;
}

/** What the columns of an update hold: JSON carries the values, and PostgreSQL wants to know. */
export type ColumnKinds = Readonly<Record<string, "text" | "bigint">>;

/**
 * Gives many rows new values in one statement, each by its `id`; rows are locked no longer than it takes. With
 * `guard` only rows that still have the `guard` value. Returns how many were changed.
 */
export async function updateMany(
  tx: Queries,
  table: "beneficiaries" | "identifiers",
  columns: ColumnKinds,
  rows: readonly Readonly<Record<string, string | number | null>>[],
  guard?: { readonly column: string; readonly field: string },
): Promise<number> {
  if (rows.length === 0) return 0;
  const json = JSON.stringify(rows);
  const field = (name: string) => (tx.kind === "postgres" ? sql.ref(`v.${name}`) : sql`v.value ->> ${sql.lit(name)}`);
  const sets = Object.keys(columns).map((name) => sql`${sql.ref(name)} = ${field(name)}`);
  const kinds = { id: "text", ...columns, ...(guard && { [guard.field]: "bigint" }) };
  const declared = Object.entries(kinds).map(([name, kind]) => sql`${sql.ref(name)} ${sql.raw(kind)}`);
  const source =
    tx.kind === "postgres"
      ? sql`json_to_recordset(${json}::json) as v (${sql.join(declared)})`
      : sql`json_each(${json}) as v`;
  const held = guard ? sql`and t.${sql.ref(guard.column)} = ${field(guard.field)}` : sql``;
  const { numAffectedRows } = await sql`
    update ${sql.table(table)} as t set ${sql.join(sets)} from ${source}
    where t.id = ${field("id")} ${held}`.execute(tx.db);
  return Number(numAffectedRows ?? 0);
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
