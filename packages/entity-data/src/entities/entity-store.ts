/** An entity as it is stored: sealed by the manager, and each owner's own. */
export interface StoredEntity {
  readonly owner: string;
  readonly id: string;
  /** One more with each write, from 1. */
  readonly revision: number;
  readonly sealed: Uint8Array<ArrayBuffer>;
}

/**
 * Keeps the entities of one tenant as events have made them. They can be made anew from the events at any time. Implement it to
 * add a backend; run the suite of `@fieldgate/entity-data/testing` on it.
 *
 * Guarantees every implementation must give:
 * - A write resolves when it is durable.
 * - `put` compares and writes in one step, also against other tabs and processes.
 * - What it is given and gives is copied.
 */
export interface EntityStore {
  /** The tenant, where the store knows it: it must then be the AuthManager's. */
  readonly tenantId?: string;
  /** May be called again, and by several at once. */
  initialize(): Promise<void>;
  /** Those that are there, in any order. */
  get(owner: string, ids: readonly string[]): Promise<StoredEntity[]>;
  /**
   * Stores each entity whose `revision` follows the stored one (1 where there is none), and gives the ids of the others, which
   * somebody else has changed meanwhile.
   */
  put(entities: readonly StoredEntity[]): Promise<string[]>;
  /** Some of an owner's entities, by their ids in order. `after` is the last id of the page before. */
  page(owner: string, after: string | null, limit: number): Promise<StoredEntity[]>;
  /** Removes entities. Ids that are not there are passed over. */
  remove(owner: string, ids: readonly string[]): Promise<void>;
  close(): Promise<void>;
}
