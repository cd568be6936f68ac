import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { ConfigurationError } from "@fieldgate/client";
import type { EntityStore, StoredEntity } from "../entities/entity-store.ts";
import type {
  Append,
  EventStatus,
  EventStore,
  LogHead,
  LogQuery,
  Settlement,
  StoredEvent,
} from "../events/event-store.ts";

type Row = Record<string, SQLOutputValue>;

const schema = `
  CREATE TABLE IF NOT EXISTS events (
    owner TEXT NOT NULL, id TEXT NOT NULL, entity_id TEXT NOT NULL, sequence INTEGER,
    status TEXT NOT NULL, sealed BLOB NOT NULL, receipt BLOB, PRIMARY KEY (owner, id)) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX IF NOT EXISTS events_log ON events (owner, sequence) WHERE sequence IS NOT NULL;
  CREATE INDEX IF NOT EXISTS events_status ON events (status, owner, sequence) WHERE sequence IS NOT NULL;
  CREATE INDEX IF NOT EXISTS events_entity ON events (owner, entity_id);
  CREATE TABLE IF NOT EXISTS heads (owner TEXT PRIMARY KEY, sequence INTEGER NOT NULL, sealed BLOB NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS entities (
    owner TEXT NOT NULL, id TEXT NOT NULL, revision INTEGER NOT NULL, sealed BLOB NOT NULL,
    PRIMARY KEY (owner, id)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;`;

const bytes = (value: SQLOutputValue | undefined): Uint8Array<ArrayBuffer> =>
  new Uint8Array(value as Uint8Array<ArrayBuffer>);

const toEvent = (row: Row): StoredEvent => ({
  owner: String(row.owner),
  id: String(row.id),
  entityId: String(row.entity_id),
  sequence: row.sequence as number | null,
  status: row.status as EventStatus,
  sealed: bytes(row.sealed),
  receipt: row.receipt === null ? null : bytes(row.receipt),
});

const toEntity = (row: Row): StoredEntity => ({
  owner: String(row.owner),
  id: String(row.id),
  revision: Number(row.revision),
  sealed: bytes(row.sealed),
});

/** A database file of a tenant: `<directory>/<tenant>.db`, which several processes may use at once. */
class TenantFile {
  readonly tenantId: string;
  readonly #directory: string;
  #opened: DatabaseSync | undefined;

  constructor(tenantId: string, directory: string) {
    if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(tenantId)) {
      throw new ConfigurationError("tenantId", `"${tenantId}" is not lower-case letters, digits and hyphens`);
    }
    this.tenantId = tenantId;
    this.#directory = directory;
  }

  get database(): DatabaseSync {
    if (this.#opened) return this.#opened;
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const database = new DatabaseSync(join(this.#directory, `${this.tenantId}.db`), { timeout: 10_000 });
    // An event that was taken is on the disk, whatever happens to the machine.
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    database.exec(schema);
    this.#opened = database;
    return database;
  }

  /** The work is synchronous, so nothing else comes between its steps. */
  transaction<T>(work: (database: DatabaseSync) => T): T {
    const { database } = this;
    database.exec("BEGIN IMMEDIATE");
    try {
      const value = work(database);
      database.exec("COMMIT");
      return value;
    } catch (error) {
      database.exec("ROLLBACK");
      throw error;
    }
  }

  close(): void {
    this.#opened?.close();
    this.#opened = undefined;
  }
}

/**
 * Keeps events in a SQLite file, for programs in Node. A write resolves when the disk has it.
 *
 * @example
 * const events = new SqliteEventStore("kenya", "/var/lib/collector");
 */
export class SqliteEventStore implements EventStore {
  readonly tenantId: string;
  readonly #file: TenantFile;

  constructor(tenantId: string, directory: string) {
    this.#file = new TenantFile(tenantId, directory);
    this.tenantId = tenantId;
  }

  async initialize(): Promise<void> {
    this.#file.database;
  }

  async append({ events, head, replaces }: Append): Promise<boolean> {
    return this.#file.transaction((database) => {
      const before = database.prepare("SELECT sequence FROM heads WHERE owner = ?").get(head.owner);
      if (events[0]?.sequence !== Number(before?.sequence ?? 0) + 1) return false;
      const known = database.prepare("SELECT 1 FROM events WHERE owner = ? AND id = ?");
      if (events.some(({ owner, id }) => known.get(owner, id))) return false;
      const remove = database.prepare("DELETE FROM events WHERE owner = ? AND id = ?");
      for (const event of events) {
        if (replaces !== undefined) remove.run(replaces, event.id);
        insert(database, event);
      }
      database
        .prepare("INSERT OR REPLACE INTO heads (owner, sequence, sealed) VALUES (?, ?, ?)")
        .run(head.owner, head.sequence, head.sealed);
      return true;
    });
  }

  async add(events: readonly StoredEvent[]): Promise<void> {
    this.#file.transaction((database) => {
      for (const event of events) insert(database, event, "ON CONFLICT (owner, id) DO NOTHING");
    });
  }

  async settle(owner: string, settlements: readonly Settlement[]): Promise<void> {
    this.#file.transaction((database) => {
      const update = database.prepare("UPDATE events SET status = ?, receipt = ? WHERE owner = ? AND id = ?");
      for (const { id, status, receipt } of settlements) update.run(status, receipt, owner, id);
    });
  }

  async erase(owner: string, entityId: string): Promise<void> {
    this.#file.database
      .prepare("UPDATE events SET sealed = x'', receipt = NULL WHERE owner = ? AND entity_id = ?")
      .run(owner, entityId);
  }

  async get(owner: string, ids: readonly string[]): Promise<StoredEvent[]> {
    const find = this.#file.database.prepare("SELECT * FROM events WHERE owner = ? AND id = ?");
    return ids
      .map((id) => find.get(owner, id))
      .filter((row) => row !== undefined)
      .map(toEvent);
  }

  async head(owner: string): Promise<LogHead | null> {
    const row = this.#file.database.prepare("SELECT sequence, sealed FROM heads WHERE owner = ?").get(owner);
    return row ? { owner, sequence: Number(row.sequence), sealed: bytes(row.sealed) } : null;
  }

  async log(owner: string, { status, after = 0, limit }: LogQuery): Promise<StoredEvent[]> {
    const { database } = this.#file;
    const rows =
      status === undefined
        ? database
            .prepare("SELECT * FROM events WHERE owner = ? AND sequence > ? ORDER BY sequence LIMIT ?")
            .all(owner, after, limit)
        : database
            .prepare("SELECT * FROM events WHERE status = ? AND owner = ? AND sequence > ? ORDER BY sequence LIMIT ?")
            .all(status, owner, after, limit);
    return rows.map(toEvent);
  }

  async ofEntity(owner: string, entityId: string): Promise<StoredEvent[]> {
    const { database } = this.#file;
    return database.prepare("SELECT * FROM events WHERE owner = ? AND entity_id = ?").all(owner, entityId).map(toEvent);
  }

  async has(status: EventStatus, owner?: string): Promise<boolean> {
    return this.#ofStatus("SELECT 1 AS found", status, owner, "LIMIT 1") !== undefined;
  }

  async count(status: EventStatus, owner?: string): Promise<number> {
    return Number(this.#ofStatus("SELECT count(*) AS number", status, owner)?.number);
  }

  async getState(name: string): Promise<string | null> {
    const row = this.#file.database.prepare("SELECT value FROM state WHERE name = ?").get(name);
    return row ? String(row.value) : null;
  }

  async setState(name: string, value: string): Promise<void> {
    this.#file.database.prepare("INSERT OR REPLACE INTO state (name, value) VALUES (?, ?)").run(name, value);
  }

  async close(): Promise<void> {
    this.#file.close();
  }

  #ofStatus(select: string, status: EventStatus, owner: string | undefined, end = ""): Row | undefined {
    const { database } = this.#file;
    const query = `${select} FROM events WHERE sequence IS NOT NULL AND status = ?`;
    return owner === undefined
      ? database.prepare(`${query} ${end}`).get(status)
      : database.prepare(`${query} AND owner = ? ${end}`).get(status, owner);
  }
}

function insert(database: DatabaseSync, event: StoredEvent, conflict = ""): void {
  const { owner, id, entityId, sequence, status, sealed, receipt } = event;
  database
    .prepare(`INSERT INTO events (owner, id, entity_id, sequence, status, sealed, receipt)
      VALUES (?, ?, ?, ?, ?, ?, ?) ${conflict}`)
    .run(owner, id, entityId, sequence, status, sealed, receipt);
}

/** Keeps entities in the same file as the tenant's events. */
export class SqliteEntityStore implements EntityStore {
  readonly tenantId: string;
  readonly #file: TenantFile;

  constructor(tenantId: string, directory: string) {
    this.#file = new TenantFile(tenantId, directory);
    this.tenantId = tenantId;
  }

  async initialize(): Promise<void> {
    this.#file.database;
  }

  async get(owner: string, ids: readonly string[]): Promise<StoredEntity[]> {
    const find = this.#file.database.prepare("SELECT * FROM entities WHERE owner = ? AND id = ?");
    return ids
      .map((id) => find.get(owner, id))
      .filter((row) => row !== undefined)
      .map(toEntity);
  }

  async put(entities: readonly StoredEntity[]): Promise<string[]> {
    return this.#file.transaction((database) => {
      const add = database.prepare(
        "INSERT INTO entities (owner, id, revision, sealed) VALUES (?, ?, 1, ?) ON CONFLICT (owner, id) DO NOTHING",
      );
      const change = database.prepare(
        "UPDATE entities SET revision = ?, sealed = ? WHERE owner = ? AND id = ? AND revision = ?",
      );
      return entities
        .filter(({ owner, id, revision, sealed }) => {
          const { changes } =
            revision === 1 ? add.run(owner, id, sealed) : change.run(revision, sealed, owner, id, revision - 1);
          return Number(changes) === 0;
        })
        .map(({ id }) => id);
    });
  }

  async page(owner: string, after: string | null, limit: number): Promise<StoredEntity[]> {
    const { database } = this.#file;
    return database
      .prepare("SELECT * FROM entities WHERE owner = ? AND id > ? ORDER BY id LIMIT ?")
      .all(owner, after ?? "", limit)
      .map(toEntity);
  }

  async remove(owner: string, ids: readonly string[]): Promise<void> {
    this.#file.transaction((database) => {
      const remove = database.prepare("DELETE FROM entities WHERE owner = ? AND id = ?");
      for (const id of ids) remove.run(owner, id);
    });
  }

  async close(): Promise<void> {
    this.#file.close();
  }
}
