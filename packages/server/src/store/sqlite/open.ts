import { Kysely, type RawBuilder, sql } from "kysely";
import type { Backend } from "../backend.ts";
import type { Database } from "../schema.ts";
import { runAlone, transactionOn } from "../straight.ts";
import { shareConnection } from "./connection.ts";
import { sqliteDialect } from "./dialect.ts";
import { SqliteDriver } from "./driver.ts";
import { watchDataVersion } from "./hints.ts";
import { openFile } from "./open-file.ts";

const clock = sql<number>`cast(round(unixepoch('subsec') * 1000) as integer)`;

function now(offset: number): RawBuilder<number> {
  return offset === 0 ? clock : sql<number>`(${clock} + cast(${offset} as integer))`;
}

export function openSqlite(file: string): Backend {
  const handle = openFile(file);
  const shared = shareConnection(handle, 5000);
  const drivers = { first: new SqliteDriver(shared, "first"), later: new SqliteDriver(shared, "later") };
  const dialect = sqliteDialect(drivers.first);
  const db = new Kysely<Database>({ dialect });
  const hints = watchDataVersion(handle);
  return {
    kind: "sqlite",
    db,
    run: (query, flush) => runAlone(drivers[flush], query),
    transaction: (work, flush) => transactionOn(drivers[flush], dialect, work),
    now,
    // `begin immediate` lets one writer in at a time.
    isCollision: () => false,
    exclusively: (work) => onOwnConnection(file, async (own) => await own.transaction().execute(work)),
    snapshot: (work) =>
      onOwnConnection(file, async (own: Kysely<Database>) => {
        await sql`pragma query_only = on`.execute(own);
        return await own.transaction().setAccessMode("read only").execute(work);
      }),
    hints,
    async close() {
      await hints.close();
      // When it is our turn, so that a transaction under way comes to its end.
      await db.connection().execute(async () => handle.close());
    },
  };
}

/** For work that takes its time: the connection that everyone shares stays free. */
async function onOwnConnection<Tables, T>(file: string, work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
  const handle = openFile(file);
  try {
    const driver = new SqliteDriver(shareConnection(handle, 60_000), "first");
    return await work(new Kysely<Tables>({ dialect: sqliteDialect(driver) }));
  } finally {
    handle.close();
  }
}
