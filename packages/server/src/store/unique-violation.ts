/** Codes of `SQLITE_CONSTRAINT_PRIMARYKEY`, `_UNIQUE` and `_ROWID`. */
const sqliteCodes: readonly unknown[] = [1555, 2067, 2579];
const postgresCode = "23505";

/** Whether a write was refused because a row with that key is there already; on either database. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("errcode" in error) return sqliteCodes.includes(error.errcode);
  return "code" in error && error.code === postgresCode;
}
