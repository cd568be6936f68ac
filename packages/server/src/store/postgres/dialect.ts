import { type Dialect, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import type pg from "pg";
import type { Flush } from "../store.ts";
import { PostgresDriver } from "./driver.ts";
import type { StatementNames } from "./statement-names.ts";

/** Kysely over a `pg` pool, with prepared statements and errors that tell an outage from a mistake. */
export function postgresDialect(pool: pg.Pool, names: StatementNames, flush: Flush = "first"): Dialect {
  return {
    createDriver: () => new PostgresDriver(pool, names, flush),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (kysely) => new PostgresIntrospector(kysely),
  };
}
