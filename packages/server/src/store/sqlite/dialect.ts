import { type Dialect, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import type { SqliteDriver } from "./driver.ts";

/** Says that connections may be asked for at the same time: our driver has its own queue, with a limit to the wait. */
class QueueingSqliteAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/** Kysely over `node:sqlite`. */
export function sqliteDialect(driver: SqliteDriver): Dialect {
  return {
    createDriver: () => driver,
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new QueueingSqliteAdapter(),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
  };
}
