import { type Kysely, sql } from "kysely";
import type { Backend } from "./backend.ts";
import { foundation } from "./migrations/001-foundation.ts";
import { citizens } from "./migrations/002-citizens.ts";
import { cardNumbers } from "./migrations/003-card-numbers.ts";
import { identityProviders } from "./migrations/004-identity-providers.ts";
import { sync } from "./migrations/005-sync.ts";
import type { DatabaseKind } from "./store.ts";

/** A step of the schema. Once released it never changes: what is wrong with it is put right by the next one. */
export interface Migration {
  readonly name: string;
  up(db: Kysely<unknown>, kind: DatabaseKind): Promise<void>;
}

/** In the order in which they run; the place in this list, counted from 1, is the version of the schema. */
export const migrations: readonly Migration[] = [foundation, citizens, cardNumbers, identityProviders, sync];

/** The database's schema is not one that this version of Fieldgate made or knows. */
export class SchemaMismatch extends Error {
  override readonly name = "SchemaMismatch";
}

interface AppliedMigration {
  version: number;
  name: string;
}

/** Brings the schema up to date, all steps or none. Other nodes that do the same wait, then find nothing to do. */
export async function migrate(backend: Backend, steps: readonly Migration[] = migrations): Promise<void> {
  await backend.exclusively((db) => applyMigrations(db, backend.kind, steps));
}

/** Takes the steps that are still to take, in the caller's exclusive transaction. */
export async function applyMigrations(
  untyped: Kysely<unknown>,
  kind: DatabaseKind,
  steps: readonly Migration[],
): Promise<void> {
  const db = untyped.$extendTables<{ schema_migrations: AppliedMigration }>();
  await sql`create table if not exists schema_migrations (version integer primary key, name text not null)`.execute(db);
  const applied = await db.selectFrom("schema_migrations").selectAll().orderBy("version").execute();
  assertKnown(applied, steps);
  for (const [index, step] of steps.entries()) {
    if (index < applied.length) continue;
    await step.up(untyped, kind);
    await db
      .insertInto("schema_migrations")
      .values({ version: index + 1, name: step.name })
      .execute();
  }
}

function assertKnown(applied: readonly AppliedMigration[], steps: readonly Migration[]): void {
  const version = applied.at(-1)?.version ?? 0;
  if (version > steps.length) {
    throw new SchemaMismatch(
      `The database has schema ${version}, made by a newer Fieldgate; this one knows schema ${steps.length} at most. ` +
        "Start the newer version, or restore a backup that this one made.",
    );
  }
  for (const { version, name } of applied) {
    const expected = steps[version - 1]?.name;
    if (name === expected) continue;
    throw new SchemaMismatch(
      `Step ${version} of the database's schema is "${name}", but this Fieldgate knows it as "${expected}". ` +
        "Check that the database address belongs to this deployment.",
    );
  }
}
