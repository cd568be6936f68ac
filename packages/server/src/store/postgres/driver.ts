import type { Driver, TransactionSettings } from "kysely";
import type pg from "pg";
import type { Flush } from "../store.ts";
import { PostgresConnection } from "./connection.ts";
import type { StatementNames } from "./statement-names.ts";

export class PostgresDriver implements Driver {
  readonly #pool: pg.Pool;
  readonly #names: StatementNames;
  readonly #flush: Flush;

  constructor(pool: pg.Pool, names: StatementNames, flush: Flush) {
    this.#pool = pool;
    this.#names = names;
    this.#flush = flush;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    return await PostgresConnection.take(this.#pool, this.#names);
  }

  async beginTransaction(connection: PostgresConnection, settings: TransactionSettings): Promise<void> {
    await connection.begin(settings, this.#flush);
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.commit();
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    await connection.rollback();
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release();
  }

  /** The pool is closed by whoever opened it. */
  async destroy(): Promise<void> {}
}
