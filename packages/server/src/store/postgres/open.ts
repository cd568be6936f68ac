import { Kysely, type RawBuilder, sql } from "kysely";
import type { Backend } from "../backend.ts";
import type { Database } from "../schema.ts";
import { runAlone, transactionOn } from "../straight.ts";
import { postgresDialect } from "./dialect.ts";
import { PostgresDriver } from "./driver.ts";
import { isCollision } from "./errors.ts";
import { listenForHints } from "./hints.ts";
import { connectionOptions, openPool } from "./pool.ts";
import { StatementNames } from "./statement-names.ts";

/** Any number that no other program on the same database is likely to lock. */
const migrationLock = 4_611_737_921;

// As a subquery it is read once a statement, and so an index can be searched with it.
const clock = sql<number>`(select (extract(epoch from clock_timestamp()) * 1000)::bigint)`;

function now(offset: number): RawBuilder<number> {
  return offset === 0 ? clock : sql<number>`(${clock} + cast(${offset} as bigint))`;
}

export function openPostgres(url: string, poolSize: number): Backend {
  const pool = openPool(url, poolSize, "everyday");
  const names = new StatementNames();
  const drivers = { first: new PostgresDriver(pool, names, "first"), later: new PostgresDriver(pool, names, "later") };
  const dialect = postgresDialect(drivers.first);
  const hints = listenForHints(connectionOptions(url));
  return {
    kind: "postgres",
    db: new Kysely<Database>({ dialect }),
    run: (query, flush) => runAlone(drivers[flush], query),
    transaction: (work, flush) => transactionOn(drivers[flush], dialect, work),
    now,
    isCollision,
    exclusively: (work) =>
      onOwnConnection(url, async (own) => {
        // Read committed: what is read after the lock must be what its last holder wrote.
        const transaction = own.transaction().setIsolationLevel("read committed");
        return await transaction.execute(async (tx) => {
          await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(tx);
          return await work(tx);
        });
      }),
    snapshot: (work) =>
      onOwnConnection(url, async (own: Kysely<Database>) => {
        const transaction = own.transaction().setIsolationLevel("repeatable read").setAccessMode("read only");
        return await transaction.execute(work);
      }),
    hints,
    async close() {
      await hints.close();
      await pool.end();
    },
  };
}

/** For work that takes its time: without the limits of everyday queries, and without a seat in the pool. */
async function onOwnConnection<Tables, T>(url: string, work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
  const pool = openPool(url, 1, "unhurried");
  try {
    const driver = new PostgresDriver(pool, new StatementNames(), "first");
    return await work(new Kysely<Tables>({ dialect: postgresDialect(driver) }));
  } finally {
    await pool.end();
  }
}
