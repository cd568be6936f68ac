import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreUnavailable } from "../store.ts";
import { translateError } from "./errors.ts";

/** Opens a database file, and makes it when it is not there: readable by its owner alone, like the folder made for it. */
export function openFile(file: string): DatabaseSync {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, "a", 0o600));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreUnavailable(`The database file ${file} cannot be opened: ${reason}.`, { cause: error });
  }
  let db: DatabaseSync | undefined;
  try {
    // While it is set up another process may do the same; later the connection waits without stopping the process.
    db = new DatabaseSync(file, { timeout: 5000, enableForeignKeyConstraints: true });
    const mode = db.prepare("pragma journal_mode = wal").get()?.journal_mode;
    if (mode !== "wal") throw new Error(`The database file ${file} is on a disk that cannot hold a write-ahead log.`);
    db.exec("pragma synchronous = full; pragma journal_size_limit = 67108864; pragma busy_timeout = 0");
    // What is deleted or replaced is overwritten in the file: people who are erased must not be found in it.
    db.exec("pragma secure_delete = on");
    return db;
  } catch (error) {
    db?.close();
    throw translateError(error);
  }
}
