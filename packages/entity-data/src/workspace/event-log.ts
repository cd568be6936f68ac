import type { Author, EntityEvent, Form, Receipt } from "../events/event.ts";
import type { EventStatus, EventStore, LogHead, LogQuery, StoredEvent } from "../events/event-store.ts";
import { chainHash, chainStart } from "../hash-chain.ts";
import type { Cipher } from "../vault/cipher.ts";

/** An event with what is known about it. */
export interface OpenedEvent {
  readonly event: EntityEvent;
  readonly status: EventStatus;
  readonly receipt: Receipt | null;
  /** Whether it is of the owner's log on this device. */
  readonly isOwn: boolean;
  /** For own ones: the hash of the event before it. */
  readonly previous: string;
}

/** What lies sealed in an event; the rest lies open beside it. */
type Body = Omit<EntityEvent, "id" | "entityId"> & { readonly previous: string };

/** An event that has no place in a log yet. */
export type Draft = Required<Omit<Form, "baseVersion">> & Pick<Form, "baseVersion"> & { readonly deviceTime: string };

/** An event of a log, with the hash of the one before it. */
export type ChainedEvent = EntityEvent & { readonly previous: string };

export interface ChainEnd {
  readonly sequence: number;
  readonly hash: string;
}

/** One owner's events: written, sealed and chained, and opened again. */
export class EventLog {
  readonly #store: EventStore;
  readonly #cipher: Cipher;

  constructor(store: EventStore, cipher: Cipher) {
    this.#store = store;
    this.#cipher = cipher;
  }

  async end(): Promise<ChainEnd> {
    const head = await this.#store.head(this.#cipher.owner);
    if (!head) return { sequence: 0, hash: chainStart };
    const { hash } = await this.#cipher.open<{ hash: string }>(`head ${head.sequence}`, head.sealed);
    return { sequence: head.sequence, hash };
  }

  /** Gives drafts their places after the end of the log, one by one. Nothing is stored yet. */
  async chain(
    after: ChainEnd,
    drafts: readonly Draft[],
    author: Author | null,
    place: (draft: Draft) => { readonly version: number; write(event: EntityEvent): void },
  ): Promise<ChainedEvent[]> {
    let { sequence, hash } = after;
    const events: ChainedEvent[] = [];
    for (const draft of drafts) {
      const { version, write } = place(draft);
      const { baseVersion = version, ...form } = draft;
      const event: EntityEvent = { ...form, author, sequence: ++sequence, baseVersion };
      write(event);
      const previous = hash;
      hash = await chainHash(previous, event);
      events.push({ ...event, hash, previous });
    }
    return events;
  }

  /** Stores chained events; false when somebody else was faster, or an id is taken. */
  async append(events: readonly ChainedEvent[], replaces?: string): Promise<boolean> {
    const end = events.at(-1);
    if (!end) return true;
    const [head, stored] = await Promise.all([
      this.#sealHead(end),
      Promise.all(events.map((event) => this.#seal(event, event.previous, event.sequence, "pending"))),
    ]);
    return this.#store.append(replaces === undefined ? { events: stored, head } : { events: stored, head, replaces });
  }

  /** Adds what others wrote. */
  async add(events: readonly EntityEvent[]): Promise<void> {
    const stored = events.map((event) => this.#seal(event, chainStart, null, "confirmed"));
    if (stored.length > 0) await this.#store.add(await Promise.all(stored));
  }

  async settle(outcomes: readonly { id: string; status: EventStatus; receipt: Receipt | null }[]): Promise<void> {
    if (outcomes.length === 0) return;
    const settlements = outcomes.map(async ({ id, status, receipt }) => ({
      id,
      status,
      receipt: receipt && (await this.#cipher.seal(`receipt ${id}`, receipt)),
    }));
    await this.#store.settle(this.#cipher.owner, await Promise.all(settlements));
  }

  async get(ids: readonly string[]): Promise<OpenedEvent[]> {
    return ids.length === 0 ? [] : this.#openAll(await this.#store.get(this.#cipher.owner, ids));
  }

  async read(query: LogQuery): Promise<OpenedEvent[]> {
    return this.#openAll(await this.#store.log(this.#cipher.owner, query));
  }

  async ofEntity(entityId: string): Promise<OpenedEvent[]> {
    return this.#openAll(await this.#store.ofEntity(this.#cipher.owner, entityId));
  }

  async #openAll(stored: readonly StoredEvent[]): Promise<OpenedEvent[]> {
    return Promise.all(stored.filter(({ sealed }) => sealed.length > 0).map((each) => this.#open(each)));
  }

  async #open({ id, entityId, sequence, status, sealed, receipt }: StoredEvent): Promise<OpenedEvent> {
    const [{ previous, ...body }, opened] = await Promise.all([
      this.#cipher.open<Body>(`event ${id} of ${entityId}`, sealed),
      receipt && this.#cipher.open<Receipt>(`receipt ${id}`, receipt),
    ]);
    return { event: { id, entityId, ...body }, status, receipt: opened, isOwn: sequence !== null, previous };
  }

  async #seal(
    { id, entityId, type, data, author, deviceTime, sequence, baseVersion, hash }: EntityEvent,
    previous: string,
    place: number | null,
    status: EventStatus,
  ): Promise<StoredEvent> {
    const body: Body = { type, data, author, deviceTime, sequence, baseVersion, hash, previous };
    const sealed = await this.#cipher.seal(`event ${id} of ${entityId}`, body);
    return { owner: this.#cipher.owner, id, entityId, sequence: place, status, sealed, receipt: null };
  }

  async #sealHead({ sequence, hash }: EntityEvent): Promise<LogHead> {
    return {
      owner: this.#cipher.owner,
      sequence,
      sealed: await this.#cipher.seal(`head ${sequence}`, { hash }),
    };
  }
}
