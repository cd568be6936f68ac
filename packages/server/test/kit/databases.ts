import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { inject } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { DatabaseConfig } from "../../src/config/config.ts";
import { openStore } from "../../src/store/open-store.ts";

export interface FreshDatabase {
  readonly config: DatabaseConfig;
  /** Removes it, whoever is still connected. */
  drop(): Promise<void>;
}

export interface TestDatabase {
  readonly name: "sqlite" | "postgres";
  /** A database of its own: with all tables, or, when `empty`, as an operator would hand it over. */
  fresh(options?: { empty?: boolean }): Promise<FreshDatabase>;
}

/** Every suite in which a database takes part runs on each of them: `describe.each(databases)("…", ({ fresh }) => …)`. */
export const databases: readonly TestDatabase[] = [
  { name: "sqlite", fresh: freshSqlite },
  { name: "postgres", fresh: freshPostgres },
];

async function freshSqlite({ empty = false } = {}): Promise<FreshDatabase> {
  const folder = mkdtempSync(join(tmpdir(), "fieldgate-sqlite-"));
  const config: DatabaseConfig = { kind: "sqlite", file: join(folder, "fieldgate.db") };
  if (!empty) {
    const store = await openStore(config, systemClock);
    await store.migrate();
    await store.close();
  }
  return { config, drop: async () => rmSync(folder, { recursive: true, force: true }) };
}

async function freshPostgres({ empty = false } = {}): Promise<FreshDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  await runOnPostgres(`create database ${name} template ${empty ? "template0" : "fieldgate_template"}`);
  const url = new URL(inject("postgresUrl"));
  url.pathname = name;
  return {
    config: { kind: "postgres", url: url.href, poolSize: 5 },
    drop: () => runOnPostgres(`drop database if exists ${name} with (force)`),
  };
}

/** Runs a statement on the server's own database, as its superuser. */
export async function runOnPostgres(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject("postgresUrl") });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
