/**
 * Where an event is on its way:
 * - `pending`: the service does not have it.
 * - `accepted`: the service has it; it has not come back with its version yet.
 * - `confirmed`: it came from the service, with its version.
 * - `rejected`: the service, or this library before sending, refused it. It is kept with its reason.
 */
export type EventStatus = "pending" | "accepted" | "confirmed" | "rejected";

/** An event as it is stored. What it says is sealed by the manager; a store never sees it. */
export interface StoredEvent {
  readonly owner: string;
  readonly id: string;
  readonly entityId: string;
  /** Its place in its owner's log on this device, from 1 without a gap; null for what others wrote. */
  readonly sequence: number | null;
  readonly status: EventStatus;
  readonly sealed: Uint8Array<ArrayBuffer>;
  /** What the service said about it, sealed too. */
  readonly receipt: Uint8Array<ArrayBuffer> | null;
}

/** The end of an owner's log. */
export interface LogHead {
  readonly owner: string;
  readonly sequence: number;
  readonly sealed: Uint8Array<ArrayBuffer>;
}

export interface Append {
  /** One owner's, in the order of their sequence, without a gap. */
  readonly events: readonly StoredEvent[];
  /** The new end of the log: its sequence is the last event's. */
  readonly head: LogHead;
  /** The owner whose events of the same ids these take the place of. */
  readonly replaces?: string;
}

export interface Settlement {
  readonly id: string;
  readonly status: EventStatus;
  readonly receipt: Uint8Array<ArrayBuffer> | null;
}

/** Events of an owner's own log, by their sequence. */
export interface LogQuery {
  readonly status?: EventStatus;
  /** Only those after this sequence. */
  readonly after?: number;
  readonly limit: number;
}

/**
 * Keeps the events of one tenant. Implement it to add a backend; run the suite of `@fieldgate/entity-data/testing` on it.
 *
 * Guarantees every implementation must give:
 * - A write resolves when it is durable; it is whole or did not happen.
 * - Events are only ever added; of one that is there, `settle` changes status and receipt alone. Only `erase`, for a person who
 *   must be forgotten, takes away what events say.
 * - `append` compares and writes in one step, also against other tabs and processes.
 * - What it is given and gives is copied: nobody changes what is stored by changing an object.
 */
export interface EventStore {
  /** The tenant, where the store knows it: it must then be the AuthManager's. */
  readonly tenantId?: string;
  /** May be called again, and by several at once. */
  initialize(): Promise<void>;
  /**
   * Adds events to the end of their owner's log, moves its head, and removes the ones they replace. False, and nothing is changed,
   * unless the first sequence follows the stored head's (1 where there is none) and no id is there already for this owner.
   */
  append(batch: Append): Promise<boolean>;
  /** Adds events that others wrote (`sequence: null`). One whose id is there already for this owner is left as it is. */
  add(events: readonly StoredEvent[]): Promise<void>;
  /** Changes status and receipt. Ids that are not there are passed over. */
  settle(owner: string, settlements: readonly Settlement[]): Promise<void>;
  /**
   * Forgets what the events of an entity say: `sealed` becomes empty and `receipt` null. They keep their places, so that a log still
   * has no gap.
   */
  erase(owner: string, entityId: string): Promise<void>;
  /** Those that are there, in any order. */
  get(owner: string, ids: readonly string[]): Promise<StoredEvent[]>;
  head(owner: string): Promise<LogHead | null>;
  /** An owner's own log, in its order. */
  log(owner: string, query: LogQuery): Promise<StoredEvent[]>;
  /** Everything about one entity that this owner has, in any order. */
  ofEntity(owner: string, entityId: string): Promise<StoredEvent[]>;
  /** Whether a log has an event of this status: the owner's, or anybody's. Quick, however many there are. */
  has(status: EventStatus, owner?: string): Promise<boolean>;
  /** How many there are of a status in the owner's log, or in all. */
  count(status: EventStatus, owner?: string): Promise<number>;
  /** A place for small texts, such as the cursor of a pull. */
  getState(name: string): Promise<string | null>;
  setState(name: string, value: string): Promise<void>;
  close(): Promise<void>;
}
