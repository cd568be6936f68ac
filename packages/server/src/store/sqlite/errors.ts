import { StoreUnavailable } from "../store.ts";

/** Primary result codes that say "not now" or "not this file" rather than "not this statement". */
const unavailable: Readonly<Record<number, string>> = {
  3: "SQLITE_PERM",
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  7: "SQLITE_NOMEM",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  15: "SQLITE_PROTOCOL",
  22: "SQLITE_NOLFS",
  26: "SQLITE_NOTADB",
};

/** The primary result code of an error of `node:sqlite`; null for any other error. */
function resultCode(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return null;
  return error.errcode & 0xff;
}

/** Another connection holds the lock: trying again soon makes sense. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === 5 || code === 6 || code === 15;
}

/** Turns what means "the database cannot be used" into `StoreUnavailable`, and leaves every other error as it is. */
export function translateError(error: unknown): unknown {
  const code = resultCode(error);
  const name = code === null ? undefined : unavailable[code];
  if (error instanceof Error && name !== undefined) {
    return new StoreUnavailable(`The database cannot be used: ${error.message} (${name}).`, { cause: error });
  }
  if (error instanceof Error && "code" in error && error.code === "ERR_INVALID_STATE") {
    return new StoreUnavailable("The database is closed.", { cause: error });
  }
  return error;
}
