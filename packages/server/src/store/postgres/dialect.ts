import { type Dialect, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import type { PostgresDriver } from "./driver.ts";

/** Kysely over a `pg` pool, with prepared statements and errors that tell an outage from a mistake. */
export function postgresDialect(driver: PostgresDriver): Dialect {
  return {
    createDriver: () => driver,
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (kysely) => new PostgresIntrospector(kysely),
  };
}
