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

/** Keeps events in memory: they end with the page or the process. For tests, and for programs that sync at once. */
export class MemoryEventStore implements EventStore {
  readonly #events = new Map<string, Map<string, StoredEvent>>();
  /** Each owner's log; the event of sequence n is at n - 1, undefined once somebody adopted it. */
  readonly #logs = new Map<string, (string | undefined)[]>();
  readonly #heads = new Map<string, LogHead>();
  readonly #state = new Map<string, string>();

  async initialize(): Promise<void> {}

  async append({ events, head, replaces }: Append): Promise<boolean> {
    const { owner } = head;
    const own = this.#of(owner);
    const next = (this.#heads.get(owner)?.sequence ?? 0) + 1;
    if (events[0]?.sequence !== next || events.some(({ id }) => own.has(id))) return false;
    const log = this.#logs.get(owner) ?? [];
    this.#logs.set(owner, log);
    for (const event of events) {
      own.set(event.id, structuredClone(event));
      log[(event.sequence as number) - 1] = event.id;
    }
    this.#heads.set(owner, structuredClone(head));
    if (replaces !== undefined) for (const { id } of events) this.#drop(replaces, id);
    return true;
  }

  async add(events: readonly StoredEvent[]): Promise<void> {
    for (const event of events) {
      const own = this.#of(event.owner);
      if (!own.has(event.id)) own.set(event.id, structuredClone(event));
    }
  }

  async settle(owner: string, settlements: readonly Settlement[]): Promise<void> {
    const own = this.#of(owner);
    for (const { id, status, receipt } of settlements) {
      const event = own.get(id);
      if (event) own.set(id, { ...event, status, receipt: structuredClone(receipt) });
    }
  }

  async erase(owner: string, entityId: string): Promise<void> {
    const own = this.#of(owner);
    for (const [id, event] of own) {
      if (event.entityId === entityId) own.set(id, { ...event, sealed: new Uint8Array(), receipt: null });
    }
  }

  async get(owner: string, ids: readonly string[]): Promise<StoredEvent[]> {
    const own = this.#of(owner);
    return structuredClone(ids.map((id) => own.get(id)).filter((event) => event !== undefined));
  }

  async head(owner: string): Promise<LogHead | null> {
    return structuredClone(this.#heads.get(owner) ?? null);
  }

  async log(owner: string, { status, after = 0, limit }: LogQuery): Promise<StoredEvent[]> {
    const found: StoredEvent[] = [];
    for (const event of this.#ordered(owner, after)) {
      if (found.length >= limit) break;
      if (status === undefined || event.status === status) found.push(structuredClone(event));
    }
    return found;
  }

  async ofEntity(owner: string, entityId: string): Promise<StoredEvent[]> {
    return structuredClone([...this.#of(owner).values()].filter((event) => event.entityId === entityId));
  }

  async has(status: EventStatus, owner?: string): Promise<boolean> {
    return this.#owners(owner).some((each) => this.#ordered(each, 0).some((event) => event.status === status));
  }

  async count(status: EventStatus, owner?: string): Promise<number> {
    const counts = this.#owners(owner).map(
      (each) =>
        this.#ordered(each, 0)
          .filter((event) => event.status === status)
          .toArray().length,
    );
    return counts.reduce((sum, each) => sum + each, 0);
  }

  async getState(name: string): Promise<string | null> {
    return this.#state.get(name) ?? null;
  }

  async setState(name: string, value: string): Promise<void> {
    this.#state.set(name, value);
  }

  async close(): Promise<void> {}

  #of(owner: string): Map<string, StoredEvent> {
    const own = this.#events.get(owner) ?? new Map<string, StoredEvent>();
    this.#events.set(owner, own);
    return own;
  }

  #owners(owner: string | undefined): string[] {
    return owner === undefined ? [...this.#logs.keys()] : [owner];
  }

  *#ordered(owner: string, after: number): Generator<StoredEvent> {
    const log = this.#logs.get(owner) ?? [];
    const own = this.#of(owner);
    for (let at = after; at < log.length; at++) {
      const event = own.get(log[at] ?? "");
      if (event) yield event;
    }
  }

  #drop(owner: string, id: string): void {
    const event = this.#of(owner).get(id);
    if (!event) return;
    this.#of(owner).delete(id);
    if (event.sequence !== null) (this.#logs.get(owner) ?? [])[event.sequence - 1] = undefined;
  }
}

/** Keeps entities in memory: they end with the page or the process. */
export class MemoryEntityStore implements EntityStore {
  readonly #entities = new Map<string, Map<string, StoredEntity>>();
  /** Each owner's ids in order, until one is added or removed. */
  readonly #order = new Map<string, string[]>();

  async initialize(): Promise<void> {}

  async get(owner: string, ids: readonly string[]): Promise<StoredEntity[]> {
    const own = this.#of(owner);
    return structuredClone(ids.map((id) => own.get(id)).filter((entity) => entity !== undefined));
  }

  async put(entities: readonly StoredEntity[]): Promise<string[]> {
    const refused: string[] = [];
    for (const entity of entities) {
      const own = this.#of(entity.owner);
      const revision = own.get(entity.id)?.revision ?? 0;
      if (revision + 1 !== entity.revision) {
        refused.push(entity.id);
        continue;
      }
      own.set(entity.id, structuredClone(entity));
      if (revision === 0) this.#order.delete(entity.owner);
    }
    return refused;
  }

  async page(owner: string, after: string | null, limit: number): Promise<StoredEntity[]> {
    const ids = this.#order.get(owner) ?? [...this.#of(owner).keys()].sort();
    this.#order.set(owner, ids);
    const from = after === null ? 0 : ids.findIndex((id) => id > after);
    return from === -1 ? [] : this.get(owner, ids.slice(from, from + limit));
  }

  async remove(owner: string, ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#of(owner).delete(id);
    this.#order.delete(owner);
  }

  async close(): Promise<void> {}

  #of(owner: string): Map<string, StoredEntity> {
    const own = this.#entities.get(owner) ?? new Map<string, StoredEntity>();
    this.#entities.set(owner, own);
    return own;
  }
}
