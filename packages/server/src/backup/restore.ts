import type { Kysely } from "kysely";
import { sql } from "kysely";
import type { Clock } from "../clock.ts";
import type { DatabaseConfig } from "../config/config.ts";
import { rewrapSecrets } from "../flows/rewrap-secrets.ts";
import { deploymentTenant } from "../journal/event.ts";
import { recordEvent } from "../journal/record.ts";
import { applyMigrations, migrations } from "../store/migrate.ts";
import { openBackend } from "../store/open-store.ts";
import type { Database } from "../store/schema.ts";
import type { DatabaseKind, Queries } from "../store/store.ts";
import { newEpoch } from "../store/sync-log.ts";
import { createKeyVault, type KeyVault } from "../tokens/key-vault.ts";
import { BackupRefused, type OnProgress } from "./format.ts";
import type { OpenBackup } from "./open-backup.ts";
import { demandRoom } from "./room.ts";
import { backupTables, tablesToDrop } from "./tables.ts";

export interface RestoreOptions {
  readonly database: DatabaseConfig;
  readonly clock: Clock;
  readonly secret: Uint8Array;
  readonly previousSecret: Uint8Array | null;
  /** Throw away what the database holds. */
  readonly replace: boolean;
  /** Leave the sessions of the backup alive, as they were then. */
  readonly keepSessions: boolean;
  readonly onProgress: OnProgress;
}

export interface RestoreResult {
  readonly rows: Readonly<Record<string, number>>;
  readonly sessionsEnded: number;
}

/**
 * Puts a backup into a database of either kind, in one transaction: all of it, or nothing. Sessions, codes and
 * handles are over afterwards: since the backup they may have been ended or used, and nobody would know.
 */
export async function restoreBackup(backup: OpenBackup, options: RestoreOptions): Promise<RestoreResult> {
  const { header } = backup;
  if (header.schema > migrations.length) {
    throw new BackupRefused(
      `The backup has schema ${header.schema}, made by Fieldgate ${header.server}; this one knows ${migrations.length} at most. ` +
        "Restore it with that version or a newer one.",
    );
  }
  const vault = createKeyVault(options.secret, options.previousSecret);
  const backend = openBackend(options.database);
  try {
    return await backend.exclusively(async (untyped) => {
      // Between the old tables and the new ones the schema is not that of `Database`; queries below come after.
      const db = untyped as Kysely<Database>;
      const run: Queries["run"] = async (query) => (await db.executeQuery(query)).rows;
      const tx: Queries = { db, run, kind: backend.kind, now: backend.now(options.clock.offset) };
      await demandRoom(tx, options.replace);
      await rebuildTables(untyped, backend.kind, header.schema);
      const rows = await insertRows(tx, backup, options.onProgress);
      await applyMigrations(untyped, backend.kind, migrations);
      await demandKeys(tx, vault);
      if (header.secretId !== vault.secretId) await rewrapSecrets(tx, vault, vault);
      await dropUnfinished(tx, options.keepSessions);
      await renewEpochs(tx);
      const sessionsEnded = await tellTenants(tx, header.createdAt, options.keepSessions);
      return { rows, sessionsEnded };
    });
  } finally {
    await backend.close();
  }
}

async function rebuildTables(db: Kysely<unknown>, kind: DatabaseKind, schema: number): Promise<void> {
  for (const table of tablesToDrop) await db.schema.dropTable(table).ifExists().execute();
  await applyMigrations(db, kind, migrations.slice(0, schema));
}

async function insertRows(tx: Queries, backup: OpenBackup, onProgress: OnProgress): Promise<Record<string, number>> {
  const counts: Record<string, number> = Object.fromEntries(backupTables.map((table) => [table.name, 0]));
  const pages = backup.pages();
  let done = 0;
  for (;;) {
    const next = await pages.next();
    if (next.done) {
      const wrong = Object.entries(next.value.rows).find(([table, count]) => counts[table] !== count);
      if (wrong) throw new BackupRefused(`The backup says ${wrong[1]} rows of ${wrong[0]}, but it holds others.`);
      return counts;
    }
    const { table, columns, rows } = next.value;
    if (counts[table] === undefined) throw new BackupRefused(`The backup holds a table ${table}, which is unknown.`);
    const names = sql.join(columns.map((column) => sql.ref(column)));
    // Neither database takes more than some 30,000 parameters in one statement.
    const share = Math.max(1, Math.floor(30_000 / columns.length));
    for (let first = 0; first < rows.length; first += share) {
      const values = rows.slice(first, first + share).map((row) => sql`(${sql.join([...row])})`);
      await sql`INSERT INTO ${sql.table(table)} (${names}) VALUES ${sql.join(values)}`.execute(tx.db);
    }
    counts[table] += rows.length;
    done += rows.length;
    onProgress({ done, total: backup.header.rows, table });
  }
}

/** A database whose keys cannot be opened would come up and answer nobody. */
async function demandKeys(tx: Queries, vault: KeyVault): Promise<void> {
  const keys = await tx.db.selectFrom("keys").select(["id", "purpose", "sealed"]).execute();
  const tenantKeys = await tx.db.selectFrom("tenant_keys").select(["id", "purpose", "sealed"]).execute();
  for (const { id, purpose, sealed } of keys) vault.open(id, purpose, sealed);
  for (const { id, purpose, sealed } of tenantKeys) vault.open(id, `tenant-${purpose}`, sealed);
}

async function dropUnfinished(tx: Queries, keepSessions: boolean): Promise<void> {
  for (const { name, restore } of backupTables) {
    if (restore === "once" || (restore === "session" && !keepSessions)) await tx.db.deleteFrom(name).execute();
  }
}

/** Positions of the log are given out a second time from here: a cursor from before must not skip what is new. */
async function renewEpochs(tx: Queries): Promise<void> {
  const heads = await tx.db.selectFrom("sync_heads").select("tenant_id").execute();
  for (const { tenant_id: tenantId } of heads) {
    await tx.db.updateTable("sync_heads").set({ epoch: newEpoch() }).where("tenant_id", "=", tenantId).execute();
  }
}

/** Ends the sessions, and tells each tenant's journal what has happened to it. Returns how many were ended. */
async function tellTenants(tx: Queries, backupOf: string, keepSessions: boolean): Promise<number> {
  const living = await tx.db
    .selectFrom("sessions")
    .select((eb) => ["tenant_id", eb.fn.countAll<number>().as("count")])
    .where("revoked_at", "is", null)
    .groupBy("tenant_id")
    .execute();
  const ended = new Map(living.map((row) => [row.tenant_id, keepSessions ? 0 : Number(row.count)]));
  if (!keepSessions) {
    await tx.db
      .updateTable("sessions")
      .set({ revoked_at: tx.now, revoked_reason: "restored" })
      .where("revoked_at", "is", null)
      .execute();
  }
  const tenants = await tx.db.selectFrom("tenants").select("id").orderBy("id").execute();
  for (const tenantId of [deploymentTenant, ...tenants.map((tenant) => tenant.id)]) {
    const data = { backupOf, sessionsEnded: ended.get(tenantId) ?? 0 };
    await recordEvent(tx, { tenantId, type: "database.restored", data });
  }
  return ended.values().reduce((sum, count) => sum + count, 0);
}
