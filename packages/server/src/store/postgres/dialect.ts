import { type Dialect, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import type pg from "pg";
import { PostgresDriver } from "./driver.ts";

/** Kysely over a `pg` pool, with prepared statements and errors that tell an outage from a mistake. */
export function postgresDialect(pool: pg.Pool): Dialect {
  return {
    createDriver: () => new PostgresDriver(pool),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (kysely) => new PostgresIntrospector(kysely),
  };
}
