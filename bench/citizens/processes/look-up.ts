import { sql } from "kysely";
import pg from "pg";
import { systemClock } from "../../../packages/server/src/clock.ts";
import type { DatabaseConfig } from "../../../packages/server/src/config/config.ts";
import { formatBirthDate } from "../../../packages/server/src/people/birth-date.ts";
import { createDataKeys, type TenantCipher } from "../../../packages/server/src/people/data-keys.ts";
import { findBornHolder } from "../../../packages/server/src/store/beneficiaries.ts";
import { insertMany } from "../../../packages/server/src/store/bulk.ts";
import { openStore } from "../../../packages/server/src/store/open-store.ts";
import type { Store } from "../../../packages/server/src/store/store.ts";
import { createKeyVault } from "../../../packages/server/src/tokens/key-vault.ts";
import { answerTasks } from "../../service/answer-tasks.ts";
import { tenantId } from "../../service/service-config.ts";
import { dateOfBirthOf, idNumberOf, insertPeople, sealPeople } from "../people.ts";
import { prepareDatabase } from "../prepared-database.ts";

export interface SizedDatabase {
  readonly database: DatabaseConfig;
  readonly people: number;
}

interface Opened {
  readonly store: Store;
  readonly cipher: TenantCipher;
  readonly people: number;
}

/** As many are sealed at a stretch: PostgreSQL's answers must not wait for it too long. */
const batch = 1000;
const batchesAtOnce = 20;
const keyColumns = ["id", "tenant_id", "purpose", "version", "sealed", "created_at"] as const;
const opened = new Map<string, Opened>();

/** A new database whose tenant has the same keys as the first one's, so that rows are sealed once for all. */
async function prepare({ database, people }: SizedDatabase, secret: Uint8Array, first: Store | undefined) {
  const prepared = await prepareDatabase(database, secret);
  const { store } = prepared;
  if (first) {
    const keys = await first.db.selectFrom("tenant_keys").selectAll().execute();
    await store.db.deleteFrom("tenant_keys").execute();
    await insertMany(store, "tenant_keys", keyColumns, keys);
  }
  // For the filling alone: the look-ups are timed on connections with the service's own settings.
  if (store.kind === "sqlite") {
    await sql`pragma cache_size = -400000`.execute(store.db);
    await sql`pragma wal_autocheckpoint = 100000`.execute(store.db);
    await sql`pragma synchronous = off`.execute(store.db);
  }
  return { ...prepared, people };
}

/** As autovacuum does a minute later; it takes longer than the service lets a statement take. */
async function vacuum(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("vacuum analyze");
  await client.query("checkpoint");
  await client.end();
}

const filling = new Map<string, Awaited<ReturnType<typeof prepare>>>();

const tasks = {
  async prepare({ secret, databases }: { secret: Uint8Array; databases: Record<string, SizedDatabase> }) {
    let first: Store | undefined;
    for (const [name, sized] of Object.entries(databases)) {
      const prepared = await prepare(sized, secret, first);
      first ??= prepared.store;
      filling.set(name, prepared);
    }
  },

  /** Adds thousands of people from this one on to the databases that are to have them; the next to add. */
  async fill({ from }: { from: number }): Promise<number> {
    const [first] = filling.values();
    // The remote ones first: a file is written without letting go.
    const targets = [...filling.values()].toSorted((a, b) => a.store.kind.localeCompare(b.store.kind));
    if (!first) throw new Error("There is no database to fill.");
    const end = Math.min(from + batch * batchesAtOnce, Math.max(...targets.map(({ people }) => people)));
    // PostgreSQL writes while the next ones are sealed.
    let written: Promise<unknown> = Promise.resolve();
    for (let at = from; at < end; at += batch) {
      const rows = sealPeople(first.cipher, at, Math.min(at + batch, end));
      await written;
      const short = targets.filter(({ people }) => people > at);
      written = Promise.all(short.map(({ store }) => store.transaction((tx) => insertPeople(tx, rows))));
    }
    await written;
    return end;
  },

  /** Opens them anew, as a node would. */
  async open({ secret, databases }: { secret: Uint8Array; databases: Record<string, SizedDatabase> }): Promise<void> {
    for (const { close } of filling.values()) await close();
    for (const [name, { database, people }] of Object.entries(databases)) {
      if (database.kind === "postgres") await vacuum(database.url);
      const store = await openStore(database, systemClock);
      const cipher = await createDataKeys(store, createKeyVault(secret), systemClock).cipher(tenantId);
      opened.set(name, { store, cipher, people });
    }
  },

  /** The milliseconds of look-ups of random people, in each database in turn. */
  async time({ names, count }: { names: readonly string[]; count: number }): Promise<number[][]> {
    const sides = names.map((name) => {
      const side = opened.get(name);
      if (!side) throw new Error(`There is no database called ${name}.`);
      return { ...side, times: [] as number[] };
    });
    for (let index = 0; index < count; index += 1) {
      for (const { store, cipher, people, times } of index % 2 === 0 ? sides : sides.toReversed()) {
        const wanted = Math.floor(Math.random() * people);
        const number = idNumberOf(wanted);
        const start = performance.now();
        const person = await findBornHolder(store, cipher, number);
        times.push(performance.now() - start);
        if (!person?.birth || formatBirthDate(person.birth) !== dateOfBirthOf(wanted)) {
          throw new Error(`The person with ${number} was not found.`);
        }
      }
    }
    return sides.map(({ times }) => times);
  },
};

export type LookUpTasks = typeof tasks;

answerTasks(tasks, async () => {
  for (const { store } of opened.values()) await store.close();
});
