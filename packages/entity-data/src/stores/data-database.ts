import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { StoredEntity } from "../entities/entity-store.ts";
import type { LogHead, StoredEvent } from "../events/event-store.ts";

/** Records as they lie in IndexedDB. What others wrote has no `sequence`, and so no place in the indexes of logs. */
export type EventRecord = Omit<StoredEvent, "sequence"> & { readonly sequence?: number };

export interface DataSchema extends DBSchema {
  events: {
    key: [owner: string, id: string];
    value: EventRecord;
    indexes: {
      log: [owner: string, sequence: number];
      status: [status: string, owner: string, sequence: number];
      entity: [owner: string, entityId: string];
    };
  };
  heads: { key: string; value: LogHead };
  entities: { key: [owner: string, id: string]; value: StoredEntity };
  state: { key: string; value: string };
}

export type DataDatabase = IDBPDatabase<DataSchema>;

/** Durable means that the disk has it, not only the browser. */
export const durable = { durability: "strict" } as const;

/** Opens the tenant's database when needed, and again when the browser or another tab took the connection away. */
export class DataConnection {
  readonly #name: string;
  #opened: Promise<DataDatabase> | undefined;

  constructor(tenantId: string) {
    this.#name = `fieldgate-data:${tenantId}`;
  }

  async open(): Promise<DataDatabase> {
    this.#opened ??= this.#connect().catch((error) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  /** Runs work with an open database; once more when the connection was closed between our look at it and its use. */
  async run<T>(work: (database: DataDatabase) => Promise<T>): Promise<T> {
    try {
      return await work(await this.open());
    } catch (error) {
      if ((error as Error).name !== "InvalidStateError") throw error;
      this.#opened = undefined;
      return work(await this.open());
    }
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    (await opened?.catch(() => undefined))?.close();
  }

  #connect(): Promise<DataDatabase> {
    const forget = () => {
      this.#opened = undefined;
    };
    return openDB<DataSchema>(this.#name, 1, {
      upgrade(database) {
        const events = database.createObjectStore("events", { keyPath: ["owner", "id"] });
        events.createIndex("log", ["owner", "sequence"], { unique: true });
        events.createIndex("status", ["status", "owner", "sequence"]);
        events.createIndex("entity", ["owner", "entityId"]);
        database.createObjectStore("heads", { keyPath: "owner" });
        database.createObjectStore("entities", { keyPath: ["owner", "id"] });
        database.createObjectStore("state");
      },
      terminated: forget,
      // A newer version of the app in another tab must not wait for this one.
      blocking: (_current, _blocked, event) => {
        forget();
        (event.target as IDBDatabase).close();
      },
    });
  }
}
