import type { CompiledQuery, Kysely, RawBuilder } from "kysely";
import type { Database } from "./schema.ts";

export type DatabaseKind = "sqlite" | "postgres";

/** Where a query runs: the pool, or one transaction. */
export interface Queries {
  readonly db: Kysely<Database>;
  /** The database's clock in milliseconds, as an expression for use inside a statement. */
  readonly now: RawBuilder<number>;
  readonly kind: DatabaseKind;
  /**
   * Runs a statement that is built already; `prepare` is the way to have one. By itself, not in a transaction, it may be
   * one that need not wait for the disk.
   */
  run<Row>(query: CompiledQuery<Row>, flush?: Flush): Promise<Row[]>;
}

/**
 * When a commit is on the disk: before it is answered, or `later`, with the next one that waits. What is written later
 * survives the end of the process, and may be lost with the machine: it is for facts that mean nothing until another
 * commit, which does wait, follows them.
 */
export type Flush = "first" | "later";

export interface Store extends Queries {
  /**
   * Runs `work` in one transaction, and once more from its beginning when others were in its way. Inside it use only
   * the handle it is given and await nothing else: on SQLite the whole process shares one connection.
   */
  transaction<T>(work: (tx: Queries) => Promise<T>, flush?: Flush): Promise<T>;
  /**
   * Runs `work` on one unchanging state of the whole database, on a connection of its own: others go on writing, and
   * it may take as long as it needs. It can only read.
   */
  snapshot<T>(work: (q: Queries) => Promise<T>): Promise<T>;
  /** Brings the schema up to date; safe while other nodes do the same. */
  migrate(): Promise<void>;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  /**
   * Calls back when another node says that something named `topic` changed. Only a hint that hastens the next poll:
   * it may be lost. `sendHint` in `hint.ts` sends them. Returns a function that stops it.
   */
  onHint(topic: string, heard: () => void): () => void;
  close(): Promise<void>;
}

/** The database does not answer, is full, or is locked by another for too long: a 503, never a verdict. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}
