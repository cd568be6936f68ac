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
import { DataConnection, durable, type EventRecord } from "./data-database.ts";

const toRecord = ({ sequence, ...event }: StoredEvent): EventRecord =>
  sequence === null ? event : { ...event, sequence };
const toEvent = ({ sequence, ...record }: EventRecord): StoredEvent => ({ ...record, sequence: sequence ?? null });

/** An array is after every text and number in the order of keys: an end for ranges that are open at the end. */
const last: string & number = [] as never;

function checkTenant(tenantId: string): string {
  if (!tenantId) throw new ConfigurationError("tenantId", "names no tenant");
  return tenantId;
}

/**
 * Keeps events in the browser, a database for each tenant. A write resolves when the disk has it.
 *
 * @example
 * const events = new IndexedDbEventStore("kenya");
 */
export class IndexedDbEventStore implements EventStore {
  readonly tenantId: string;
  readonly #connection: DataConnection;

  constructor(tenantId: string) {
    this.tenantId = checkTenant(tenantId);
    this.#connection = new DataConnection(tenantId);
  }

  async initialize(): Promise<void> {
    await this.#connection.open();
    // Not awaited: some browsers ask the person first.
    globalThis.navigator?.storage?.persist?.().catch(() => 0);
  }

  append({ events, head, replaces }: Append): Promise<boolean> {
    return this.#connection.run(async (database) => {
      const transaction = database.transaction(["events", "heads"], "readwrite", durable);
      const [store, heads] = [transaction.objectStore("events"), transaction.objectStore("heads")];
      const { owner } = head;
      const [before, ...known] = await Promise.all([
        heads.get(owner),
        ...events.map(({ id }) => store.getKey([owner, id])),
      ]);
      const fits = events[0]?.sequence === (before?.sequence ?? 0) + 1 && known.every((key) => key === undefined);
      const writes: Promise<unknown>[] = [];
      if (fits) {
        if (replaces !== undefined) writes.push(...events.map(({ id }) => store.delete([replaces, id])));
        writes.push(...events.map((event) => store.add(toRecord(event))), heads.put(head));
      }
      await Promise.all([...writes, transaction.done]);
      return fits;
    });
  }

  add(events: readonly StoredEvent[]): Promise<void> {
    return this.#connection.run(async (database) => {
      const transaction = database.transaction("events", "readwrite", durable);
      const { store } = transaction;
      // The first of an id stays, within a batch too.
      const first = new Map(events.toReversed().map((event) => [`${event.owner} ${event.id}`, event]));
      await Promise.all(
        [...first.values()].map(async (event) => {
          if ((await store.getKey([event.owner, event.id])) === undefined) await store.put(toRecord(event));
        }),
      );
      await transaction.done;
    });
  }

  settle(owner: string, settlements: readonly Settlement[]): Promise<void> {
    return this.#connection.run(async (database) => {
      const transaction = database.transaction("events", "readwrite", durable);
      const { store } = transaction;
      await Promise.all(
        settlements.map(async ({ id, status, receipt }) => {
          const record = await store.get([owner, id]);
          if (record) await store.put({ ...record, status, receipt });
        }),
      );
      await transaction.done;
    });
  }

  erase(owner: string, entityId: string): Promise<void> {
    return this.#connection.run(async (database) => {
      const transaction = database.transaction("events", "readwrite", durable);
      const records = await transaction.store.index("entity").getAll([owner, entityId]);
      const blank = (record: EventRecord) => ({ ...record, sealed: new Uint8Array(), receipt: null });
      await Promise.all([...records.map((record) => transaction.store.put(blank(record))), transaction.done]);
    });
  }

  get(owner: string, ids: readonly string[]): Promise<StoredEvent[]> {
    return this.#connection.run(async (database) => {
      const { store } = database.transaction("events");
      const found = await Promise.all(ids.map((id) => store.get([owner, id])));
      return found.filter((record) => record !== undefined).map(toEvent);
    });
  }

  async head(owner: string): Promise<LogHead | null> {
    return (await this.#connection.run((database) => database.get("heads", owner))) ?? null;
  }

  log(owner: string, { status, after = 0, limit }: LogQuery): Promise<StoredEvent[]> {
    return this.#connection.run(async (database) => {
      const records =
        status === undefined
          ? database.getAllFromIndex("events", "log", IDBKeyRange.bound([owner, after], [owner, last], true), limit)
          : database.getAllFromIndex(
              "events",
              "status",
              IDBKeyRange.bound([status, owner, after], [status, owner, last], true),
              limit,
            );
      return (await records).map(toEvent);
    });
  }

  ofEntity(owner: string, entityId: string): Promise<StoredEvent[]> {
    return this.#connection.run(async (database) =>
      (await database.getAllFromIndex("events", "entity", [owner, entityId])).map(toEvent),
    );
  }

  async has(status: EventStatus, owner?: string): Promise<boolean> {
    const range = statusRange(status, owner);
    return (
      (await this.#connection.run((database) => database.getKeyFromIndex("events", "status", range))) !== undefined
    );
  }

  count(status: EventStatus, owner?: string): Promise<number> {
    return this.#connection.run((database) => database.countFromIndex("events", "status", statusRange(status, owner)));
  }

  async getState(name: string): Promise<string | null> {
    return (await this.#connection.run((database) => database.get("state", name))) ?? null;
  }

  setState(name: string, value: string): Promise<void> {
    return this.#connection.run(async (database) => {
      const transaction = database.transaction("state", "readwrite", durable);
      await Promise.all([transaction.store.put(value, name), transaction.done]);
    });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

function statusRange(status: EventStatus, owner: string | undefined): IDBKeyRange {
  return owner === undefined
    ? IDBKeyRange.bound([status], [status, last])
    : IDBKeyRange.bound([status, owner], [status, owner, last]);
}

/** Keeps entities in the browser, in the same database as the tenant's events. */
export class IndexedDbEntityStore implements EntityStore {
  readonly tenantId: string;
  readonly #connection: DataConnection;

  constructor(tenantId: string) {
    this.tenantId = checkTenant(tenantId);
    this.#connection = new DataConnection(tenantId);
  }

  async initialize(): Promise<void> {
    await this.#connection.open();
  }

  get(owner: string, ids: readonly string[]): Promise<StoredEntity[]> {
    return this.#connection.run(async (database) => {
      const { store } = database.transaction("entities");
      return (await Promise.all(ids.map((id) => store.get([owner, id])))).filter((entity) => entity !== undefined);
    });
  }

  put(entities: readonly StoredEntity[]): Promise<string[]> {
    return this.#connection.run(async (database) => {
      const transaction = database.transaction("entities", "readwrite", durable);
      const { store } = transaction;
      const refused = await Promise.all(
        entities.map(async (entity) => {
          const stored = await store.get([entity.owner, entity.id]);
          if ((stored?.revision ?? 0) + 1 !== entity.revision) return entity.id;
          await store.put(entity);
          return null;
        }),
      );
      await transaction.done;
      return refused.filter((id) => id !== null);
    });
  }

  page(owner: string, after: string | null, limit: number): Promise<StoredEntity[]> {
    const range =
      after === null
        ? IDBKeyRange.bound([owner], [owner, last])
        : IDBKeyRange.bound([owner, after], [owner, last], true);
    return this.#connection.run((database) => database.getAll("entities", range, limit));
  }

  remove(owner: string, ids: readonly string[]): Promise<void> {
    return this.#connection.run(async (database) => {
      const transaction = database.transaction("entities", "readwrite", durable);
      await Promise.all([...ids.map((id) => transaction.store.delete([owner, id])), transaction.done]);
    });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
