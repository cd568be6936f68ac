import { DatabaseSync } from "node:sqlite";
import type { AuthStorageAdapter, StoredSession } from "@fieldgate/client";

/** Keeps sessions in an SQLite file that several processes may share. */
export class SqliteAuthStorageAdapter implements AuthStorageAdapter {
  readonly tenantId: string;
  readonly #file: string;
  #database: DatabaseSync | undefined;

  constructor(tenantId: string, file: string) {
    this.tenantId = tenantId;
    this.#file = file;
  }

  async initialize(): Promise<void> {
    if (this.#database) return;
    this.#database = new DatabaseSync(this.#file, { timeout: 5000 });
    this.#database.exec(`
      pragma journal_mode = wal;
      pragma synchronous = full;
      create table if not exists sessions (
        tenant text, provider text, version integer, session text, primary key (tenant, provider)
      ) strict`);
  }

  async get(provider: string): Promise<StoredSession | null> {
    const row = this.#open()
      .prepare("select session from sessions where tenant = ? and provider = ?")
      .get(this.tenantId, provider);
    return row ? JSON.parse(String(row.session)) : null;
  }

  async put(provider: string, session: StoredSession): Promise<void> {
    this.#open()
      .prepare("insert or replace into sessions (tenant, provider, version, session) values (?, ?, ?, ?)")
      .run(this.tenantId, provider, session.version, JSON.stringify(session));
  }

  /** One statement compares and stores: whoever comes second finds another version, and changes nothing. */
  async replace(provider: string, expectedVersion: number, next: StoredSession): Promise<boolean> {
    const { changes } = this.#open()
      .prepare("update sessions set version = ?, session = ? where tenant = ? and provider = ? and version = ?")
      .run(next.version, JSON.stringify(next), this.tenantId, provider, expectedVersion);
    return Number(changes) === 1;
  }

  async remove(provider?: string): Promise<void> {
    if (provider === undefined) {
      this.#open().prepare("delete from sessions where tenant = ?").run(this.tenantId);
    } else {
      this.#open().prepare("delete from sessions where tenant = ? and provider = ?").run(this.tenantId, provider);
    }
  }

  async providers(): Promise<string[]> {
    const rows = this.#open().prepare("select provider from sessions where tenant = ?").all(this.tenantId);
    return rows.map(({ provider }) => String(provider));
  }

  async close(): Promise<void> {
    this.#database?.close();
    this.#database = undefined;
  }

  #open(): DatabaseSync {
    if (!this.#database) throw new Error("The storage is closed: call initialize() first.");
    return this.#database;
  }
}
