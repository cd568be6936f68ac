import { sql } from "kysely";
import type { Queries } from "../store/store.ts";
import { BackupRefused } from "./format.ts";
import { backupTables } from "./tables.ts";
import { countRows } from "./write-backup.ts";

/** Refuses a database that a server is using, or that holds anything while it may not be replaced. */
export async function demandRoom(tx: Queries, replace: boolean): Promise<void> {
  const present = await presentTables(tx);
  if (present.has("leases")) await demandNoServer(tx);
  if (replace) return;
  const held: string[] = [];
  for (const { name } of backupTables) {
    const count = present.has(name) ? await countRows(tx, name) : 0;
    if (count > 0) held.push(`${count} in ${name}`);
  }
  if (held.length === 0) return;
  throw new BackupRefused(
    `The database is not empty (${held.join(", ")}). Restore into an empty one, or add --replace to throw all of it away.`,
  );
}

async function presentTables(tx: Queries): Promise<ReadonlySet<string>> {
  const { rows } =
    tx.kind === "sqlite"
      ? await sql<{ name: string }>`SELECT name FROM sqlite_schema WHERE type = 'table'`.execute(tx.db)
      : await sql<{
          name: string;
        }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`.execute(tx.db);
  return new Set(rows.map((row) => row.name));
}

/** Every running cluster has a node that seals its journal, and so holds a lease that has not run out. */
async function demandNoServer(tx: Queries): Promise<void> {
  const lease = await tx.db
    .selectFrom("leases")
    .select(["name", "expires_at", tx.now.as("now")])
    .where("expires_at", ">", tx.now)
    .orderBy("expires_at", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!lease) return;
  const seconds = Math.ceil((lease.expires_at - lease.now) / 1000);
  throw new BackupRefused(
    `A server is using this database: it holds the lease ${lease.name}. Stop every node, then try again. ` +
      `(If it was killed, its lease runs out in ${seconds} seconds.)`,
  );
}
