import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Clock } from "../clock.ts";
import type { DatabaseConfig } from "../config/config.ts";
import type { Backend, TransactionQueries } from "./backend.ts";
import { migrate } from "./migrate.ts";
import { openPostgres } from "./postgres/open.ts";
import { openSqlite } from "./sqlite/open.ts";
import { type Flush, type Queries, type Store, StoreUnavailable } from "./store.ts";

const attempts = 5;

export function openBackend(database: DatabaseConfig): Backend {
  return database.kind === "sqlite" ? openSqlite(database.file) : openPostgres(database.url, database.poolSize);
}

/** Opens the database; its schema is left as it is until `migrate`. PostgreSQL is not asked before the first query. */
export async function openStore(database: DatabaseConfig, clock: Clock): Promise<Store> {
  const backend = openBackend(database);

  const queriesOn = (on: TransactionQueries): Queries => ({
    get db() {
      return on.db;
    },
    run: (query) => on.run(query),
    kind: backend.kind,
    get now() {
      return backend.now(clock.offset);
    },
  });

  let closing: Promise<void> | undefined;
  return {
    db: backend.db,
    run: (query, flush = "first") => backend.run(query, flush),
    kind: backend.kind,
    get now() {
      return backend.now(clock.offset);
    },
    transaction: (work, flush = "first") => runTransaction(backend, flush, (tx) => work(queriesOn(tx))),
    snapshot: (work) =>
      backend.snapshot((db) => work(queriesOn({ db, run: async (query) => (await db.executeQuery(query)).rows }))),
    migrate: () => migrate(backend),
    ping: () => ping(backend),
    onHint: (topic, heard) => backend.hints.on(topic, heard),
    close() {
      closing ??= backend.close();
      return closing;
    },
  };
}

async function runTransaction<T>(
  backend: Backend,
  flush: Flush,
  work: (tx: TransactionQueries) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await backend.transaction(work, flush);
    } catch (error) {
      if (!backend.isCollision(error)) throw error;
      if (attempt === attempts) {
        throw new StoreUnavailable(`Others were in the way of a transaction ${attempts} times.`, { cause: error });
      }
    }
    await sleep(attempt * 10 * Math.random());
  }
}

async function ping(backend: Backend): Promise<void> {
  if (backend.kind === "sqlite") {
    // A query without a table would be answered without a look at the file.
    await sql`select count(*) from sqlite_schema`.execute(backend.db);
  } else {
    await backend.db.selectNoFrom(sql`1`.as("one")).execute();
  }
}
