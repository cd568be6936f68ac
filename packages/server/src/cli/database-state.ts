import { existsSync } from "node:fs";
import { sql } from "kysely";
import type { Config } from "../config/config.ts";
import { migrations } from "../store/migrate.ts";
import type { Queries } from "../store/store.ts";
import { CliFailure } from "./cli-failure.ts";

const howToBegin = "Run `fieldgate init`, or start the service once with `fieldgate serve`.";

/** The version of the database's schema; 0 where there is none. */
export async function schemaVersion(q: Queries): Promise<number> {
  const table =
    q.kind === "postgres"
      ? sql<{ found: number }>`select count(*)::int as found from pg_class where oid = to_regclass('schema_migrations')`
      : sql<{ found: number }>`select count(*) as found from sqlite_schema where name = 'schema_migrations'`;
  const [{ found } = { found: 0 }] = (await table.execute(q.db)).rows;
  if (found === 0) return 0;
  const newest = sql<{ version: number | null }>`select max(version) as version from schema_migrations`;
  return (await newest.execute(q.db)).rows[0]?.version ?? 0;
}

/** Opening a file that is not there would make an empty one. */
export function demandFile({ database, mode }: Pick<Config, "database" | "mode">): void {
  if (database.kind === "sqlite" && !existsSync(database.file)) {
    const begin =
      mode === "development" ? "Start the demo once with `npm start`, or run `fieldgate init --dev`." : howToBegin;
    throw new CliFailure(`There is no database at ${database.file}. ${begin}`);
  }
}

/** Commands change what is there; only `init` and `serve` bring the schema up to date. */
export async function demandSchema(q: Queries): Promise<void> {
  const version = await schemaVersion(q);
  if (version === 0) throw new CliFailure(`The database has no tables yet. ${howToBegin}`);
  if (version < migrations.length) {
    throw new CliFailure(
      `The database has schema ${version}, and this Fieldgate needs ${migrations.length}. Restart the service with this version first.`,
    );
  }
  if (version > migrations.length) {
    throw new CliFailure(
      `The database has schema ${version}, made by a newer Fieldgate; this one knows ${migrations.length} at most. Use the newer version.`,
    );
  }
}
