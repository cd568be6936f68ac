import type { CompiledQuery, Kysely, RawBuilder } from "kysely";
import type { Database } from "./schema.ts";
import type { DatabaseKind, Flush, Queries } from "./store.ts";

/** What a transaction of a database offers; the store adds the rest. */
export type TransactionQueries = Pick<Queries, "db" | "run">;

/** What differs between the databases, beneath the one `Store`. */
export interface Backend {
  readonly kind: DatabaseKind;
  readonly db: Kysely<Database>;
  /** Runs a statement that is built already by itself. */
  run<Row>(query: CompiledQuery<Row>, flush: Flush): Promise<Row[]>;
  /** Runs `work` in one transaction, once. */
  transaction<T>(work: (tx: TransactionQueries) => Promise<T>, flush: Flush): Promise<T>;
  /** The database's clock in milliseconds, `offset` ahead. */
  now(offset: number): RawBuilder<number>;
  /** Whether a transaction failed only because of others that ran beside it, so that running it again makes sense. */
  isCollision(error: unknown): boolean;
  /** Runs `work` in one transaction that no other node can be in, without the time limits of everyday queries. */
  exclusively<T>(work: (db: Kysely<unknown>) => Promise<T>): Promise<T>;
  /** Runs `work` on one state of the whole database, beside writers and for as long as it takes. It can only read. */
  snapshot<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T>;
  readonly hints: Hints;
  close(): Promise<void>;
}

export interface Hints {
  on(topic: string, heard: () => void): () => void;
  close(): Promise<void>;
}
