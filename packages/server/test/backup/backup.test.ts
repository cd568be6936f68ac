import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openBackup } from "../../src/backup/open-backup.ts";
import { type RestoreOptions, restoreBackup } from "../../src/backup/restore.ts";
import { backupTables, tablesToDrop } from "../../src/backup/tables.ts";
import { writeBackup } from "../../src/backup/write-backup.ts";
import { systemClock } from "../../src/clock.ts";
import { recordEvent } from "../../src/journal/record.ts";
import { verifyJournal } from "../../src/journal/verify.ts";
import { addTenant } from "../../src/people/tenants.ts";
import { addWorker } from "../../src/people/workers.ts";
import { applyMigrations, migrations } from "../../src/store/migrate.ts";
import { openBackend, openStore } from "../../src/store/open-store.ts";
import type { Queries, Store } from "../../src/store/store.ts";
import { createKeyVault } from "../../src/tokens/key-vault.ts";
import { insertEvents, type JournalKit, openJournalKit } from "../journal/journal-kit.ts";
import { databases } from "../kit/databases.ts";

const quiet = () => {};

/** Tenants, workers, living and ended sessions, codes under way, and a sealed journal. */
async function fill(kit: JournalKit): Promise<void> {
  await kit.store.transaction(async (tx) => {
    for (const id of ["north", "south"]) {
      await addTenant(tx, { id, name: `Programme ${id} — ééü 😀`, settings: {} }, { loopbackHttp: true });
      await addWorker(tx, { tenantId: id, username: `amina@${id}`, passwordHash: "$argon2id$x", roles: ["admin"] });
    }
    await tx.db
      .insertInto("dpop_proofs")
      .values({ id: "used", expires_at: Date.now() + 60_000 })
      .execute();
    await tx.db
      .insertInto("budgets")
      .values({ key: "b", subject: "s", reserved: 0, failed: 3, locked_until: 7, inflight_until: 0, expires_at: 9 })
      .execute();
    await insertSession(tx, "s1", "north", null);
    await insertSession(tx, "s2", "north", 5);
    await insertSession(tx, "s3", "south", null);
  });
  await insertEvents(kit.store, "north", 1200);
  await kit.seal();
  await insertEvents(kit.store, "south", 2);
}

async function insertSession(tx: Queries, id: string, tenantId: string, revokedAt: number | null): Promise<void> {
  await tx.db
    .insertInto("sessions")
    .values({
      id,
      tenant_id: tenantId,
      user_id: "u",
      kind: "field-worker",
      username: "amina",
      provider: "password",
      amr: "[]",
      acr: "low",
      scope: "",
      entity_id: null,
      device_id: null,
      refresh_key_id: null,
      counter: 0,
      head_hash: null,
      parent_hash: null,
      parent_id: null,
      jkt: null,
      created_at: 1,
      rotated_at: 1,
      idle_ms: 1,
      expires_at: Date.now() + 1e9,
      absolute_expires_at: Date.now() + 1e9,
      revoked_at: revokedAt,
      revoked_reason: revokedAt === null ? null : "logout",
    })
    .execute();
}

/** Everything a database holds, table by table. */
async function contents(store: Store): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const { name, key } of backupTables) {
    found[name] = await store.db
      .selectFrom(name)
      .selectAll()
      .orderBy(sql.join(key.map((column) => sql.ref(column))))
      .execute();
  }
  return found;
}

describe.each(databases)("a backup of $name", (source) => {
  let kit: JournalKit;
  let folder: string;
  let path: string;
  const cleanUps: (() => Promise<unknown>)[] = [];
  beforeEach(async () => {
    kit = await openJournalKit(source);
    folder = await mkdtemp(join(tmpdir(), "fieldgate-backup-"));
    path = join(folder, "it.ndjson.gz");
    cleanUps.push(
      () => kit.close(),
      () => rm(folder, { recursive: true, force: true }),
    );
  });
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0)) await cleanUp();
  });

  const backUp = () => writeBackup(kit.store, kit.secret, path, quiet);
  const target = async (kind: (typeof databases)[number], empty: boolean) => {
    const database = await kind.fresh({ empty });
    cleanUps.unshift(() => database.drop());
    return database.config;
  };
  const restore = async (options: Partial<RestoreOptions> & Pick<RestoreOptions, "database">) => {
    const { secret = kit.secret, previousSecret = null } = options;
    const backup = await openBackup(path, previousSecret ? [secret, previousSecret] : [secret]);
    try {
      return await restoreBackup(backup, {
        clock: systemClock,
        replace: false,
        keepSessions: false,
        onProgress: quiet,
        ...options,
        secret,
        previousSecret,
      });
    } finally {
      await backup.close();
    }
  };
  const reopen = async (database: RestoreOptions["database"]) => {
    const store = await openStore(database, systemClock);
    cleanUps.unshift(() => store.close());
    return store;
  };

  it("holds every table there is", async () => {
    const tables =
      source.name === "sqlite"
        ? sql<{ name: string }>`select name from sqlite_schema where type = 'table'`
        : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public'`;
    const { rows } = await tables.execute(kit.store.db);
    expect(rows.map((row) => row.name).toSorted()).toEqual(tablesToDrop.toSorted());
  });

  it("is a file for its owner alone, complete or not there, that zcat can read", async () => {
    await fill(kit);
    const { size, rows } = await backUp();
    const file = await stat(path);
    expect(file.mode & 0o777).toBe(0o600);
    expect(file.size).toBe(size);
    expect(await readdir(folder)).toEqual(["it.ndjson.gz"]);
    const lines = gunzipSync(await readFile(path))
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ record: "header", format: "fieldgate-backup", database: source.name });
    expect(lines.at(-2)).toEqual({ record: "end", rows });
    expect(lines.at(-1)).toMatchObject({ record: "seal" });
    expect(rows).toMatchObject({ tenants: 2, workers: 2, sessions: 3, journal_checkpoints: 3 });

    await expect(writeBackup(kit.store, kit.secret, join(folder, "none", "x"), quiet)).rejects.toThrow("ENOENT");
    await sql`drop table revoked_cards`.execute(kit.store.db);
    await expect(writeBackup(kit.store, kit.secret, join(folder, "failed"), quiet)).rejects.toThrow("revoked_cards");
    expect(await readdir(folder)).toEqual(["it.ndjson.gz"]);
  });

  it.each(databases)("comes back on $name: the same rows, sessions over, the journal whole", async (kind) => {
    await fill(kit);
    const before = await contents(kit.store);
    await backUp();
    const database = await target(kind, true);
    const { rows, sessionsEnded } = await restore({ database });
    expect(sessionsEnded).toBe(2);
    expect(rows.journal_events).toBe(before.journal_events?.length);

    const store = await reopen(database);
    const after = await contents(store);
    const unchanged = ["keys", "tenants", "tenant_hosts", "workers", "devices", "budgets", "deployment"];
    for (const table of [...unchanged, "journal_heads", "journal_checkpoints"]) {
      expect(after[table], table).toEqual(before[table]);
    }
    expect(after.dpop_proofs).toEqual([]);
    const sessions = await store.db.selectFrom("sessions").select(["id", "revoked_at", "revoked_reason"]).execute();
    expect(sessions.map((session) => session.revoked_reason).toSorted()).toEqual(["logout", "restored", "restored"]);
    expect(sessions.every((session) => session.revoked_at !== null)).toBe(true);

    const told = await store.db
      .selectFrom("journal_events")
      .select(["tenant_id", "data"])
      .where("type", "=", "database.restored")
      .orderBy("tenant_id")
      .execute();
    expect(told.map((event) => [event.tenant_id, JSON.parse(event.data).sessionsEnded])).toEqual([
      ["_", 0],
      ["north", 1],
      ["south", 1],
    ]);
    await kit.startSealer({ store }).stop();
    const verified = await store.snapshot((q) => verifyJournal(q, { vault: kit.vault, checkpointSeconds: 60 }));
    expect(verified.findings.shown).toEqual([]);
  });

  it("leaves the sessions alone when asked to", async () => {
    await fill(kit);
    await backUp();
    const database = await target(source, true);
    expect(await restore({ database, keepSessions: true })).toMatchObject({ sessionsEnded: 0 });
    const store = await reopen(database);
    const living = await store.db.selectFrom("sessions").select("id").where("revoked_at", "is", null).execute();
    expect(living.map((session) => session.id).toSorted()).toEqual(["s1", "s3"]);
    expect(await store.db.selectFrom("dpop_proofs").select("id").execute()).toEqual([{ id: "used" }]);
  });

  it("is one state of the database, taken while others write", async () => {
    let writing = true;
    let count = 0;
    const write = async () => {
      const store = await kit.openAnother();
      while (writing) {
        // Two rows that belong together, far apart in the backup.
        await store.transaction(async (tx) => {
          count += 1;
          const id = `t${count}`;
          await addTenant(tx, { id, name: id, settings: {} }, { loopbackHttp: true });
        });
        await new Promise(setImmediate);
      }
    };
    const writers = [write(), write()];
    try {
      await expect.poll(() => count).toBeGreaterThan(5);
      await backUp();
      const soFar = count;
      await expect.poll(() => count).toBeGreaterThan(soFar + 5);
    } finally {
      writing = false;
      await Promise.all(writers);
    }
    const { rows } = await restore({ database: await target(source, true) });
    const lines = gunzipSync(await readFile(path)).toString();
    expect(rows.tenants).toBeGreaterThan(0);
    expect(rows.tenants).toBe(lines.split('"tenant.added"').length - 1);
  });

  it("is refused with any byte changed, before anything is written", async () => {
    await fill(kit);
    await backUp();
    const bytes = await readFile(path);
    const database = await target(source, true);
    const sample = [0, 3, 4, 8, 9, 10, ...Array.from({ length: 20 }, () => Math.floor(Math.random() * bytes.length))];
    for (const position of [...sample, ...Array.from({ length: 120 }, (_, index) => bytes.length - 1 - index)]) {
      const changed = Buffer.from(bytes);
      changed[position] = (changed[position] ?? 0) ^ (1 << (position % 8));
      await writeFile(path, changed);
      await expect(restore({ database }), `byte ${position}`).rejects.toMatchObject({ name: "BackupRefused" });
    }
    for (const length of [0, 1, 50, 118, 119, 5000, bytes.length - 1]) {
      await writeFile(path, bytes);
      await truncate(path, length);
      await expect(restore({ database }), `${length} bytes`).rejects.toMatchObject({ name: "BackupRefused" });
    }
    await writeFile(path, Buffer.concat([bytes, bytes]));
    await expect(restore({ database })).rejects.toThrow("cut or changed");
    await writeFile(path, bytes);
    expect(await restore({ database })).toMatchObject({ sessionsEnded: 2 });
  });

  it("is refused under another secret, and comes back under the one before the last rotation", async () => {
    await backUp();
    const database = await target(source, true);
    const secret = randomBytes(32);
    await expect(restore({ database, secret })).rejects.toThrow("FIELDGATE_SECRET_PREVIOUS");
    await restore({ database, secret, previousSecret: kit.secret });
    const store = await reopen(database);
    // From now on the new secret alone is enough.
    const vault = createKeyVault(secret);
    for (const key of await store.db.selectFrom("keys").selectAll().execute()) {
      expect(vault.open(key.id, key.purpose, key.sealed).length).toBeGreaterThan(0);
    }
    const [row] = await store.db.selectFrom("deployment").select("value").where("name", "=", "secret_id").execute();
    expect(row?.value).toBe(vault.secretId);
  });

  it("goes into an empty database only, unless it may replace what is there", async () => {
    await fill(kit);
    await backUp();
    await expect(restore({ database: kit.database.config })).rejects.toThrow(/not empty.*2 in tenants.*--replace/);
    await kit.store.transaction((tx) =>
      addTenant(tx, { id: "later", name: "later", settings: {} }, { loopbackHttp: true }),
    );
    await restore({ database: kit.database.config, replace: true });
    const tenants = await kit.store.db.selectFrom("tenants").select("id").orderBy("id").execute();
    expect(tenants.map((tenant) => tenant.id)).toEqual(["north", "south"]);
    // Tables without rows are as good as none.
    await restore({ database: await target(source, false) });
  });

  it("does not go into a database that a server is using", async () => {
    await backUp();
    const sealer = kit.startSealer();
    await sealer.sealNow();
    await expect(restore({ database: kit.database.config, replace: true })).rejects.toThrow(/server.*journal-sealer/);
    await sealer.stop();
    await restore({ database: kit.database.config, replace: true });
  });

  it("leaves the database as it was when it fails half-way", async () => {
    await fill(kit);
    await backUp();
    await kit.store.transaction((tx) => recordEvent(tx, { tenantId: "north", type: "login.failed" }));
    const before = await contents(kit.store);
    let pages = 0;
    const failing = restore({
      database: kit.database.config,
      replace: true,
      onProgress: () => {
        pages += 1;
        if (pages === 5) throw new Error("the power went");
      },
    });
    await expect(failing).rejects.toThrow("the power went");
    expect(await contents(kit.store)).toEqual(before);
  });

  it("of an older schema is brought up to date; of a newer one it is refused", async () => {
    // A database as the first release left it.
    const database = await target(source, true);
    const backend = openBackend(database);
    await backend.exclusively((db) => applyMigrations(db, backend.kind, migrations.slice(0, 1)));
    await backend.close();
    await backUp();
    const lines = gunzipSync(await readFile(path))
      .toString()
      .trimEnd()
      .split("\n");
    const header = JSON.parse(lines[0] ?? "");
    expect(header.schema).toBe(migrations.length);
    const backup = await openBackup(path, [kit.secret]);
    const options: RestoreOptions = {
      database,
      clock: systemClock,
      secret: kit.secret,
      previousSecret: null,
      replace: false,
      keepSessions: false,
      onProgress: quiet,
    };
    const newer = { ...backup, header: { ...backup.header, schema: migrations.length + 1, server: "99.0.0" } };
    await expect(restoreBackup(newer, options)).rejects.toThrow(/made by Fieldgate 99.0.0/);
    const older = { ...backup, header: { ...backup.header, schema: 1 } };
    await restoreBackup(older, options);
    await backup.close();
    const store = await reopen(database);
    expect(await store.db.selectFrom("beneficiaries").selectAll().execute()).toEqual([]);
    await store.migrate();
  });
});
