import type { Driver, TransactionSettings } from "kysely";
import type { Flush } from "../store.ts";
import { type SharedConnection, SqliteConnection } from "./connection.ts";

export class SqliteDriver implements Driver {
  readonly #shared: SharedConnection;
  readonly #flush: Flush;

  constructor(shared: SharedConnection, flush: Flush) {
    this.#shared = shared;
    this.#flush = flush;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    const connection = new SqliteConnection(this.#shared, this.#flush);
    await connection.takeTurn();
    return connection;
  }

  async beginTransaction(connection: SqliteConnection, settings: TransactionSettings): Promise<void> {
    await connection.begin(settings);
  }

  async commitTransaction(connection: SqliteConnection): Promise<void> {
    connection.commit();
  }

  async rollbackTransaction(connection: SqliteConnection): Promise<void> {
    connection.rollback();
  }

  async releaseConnection(connection: SqliteConnection): Promise<void> {
    connection.passTurn();
  }

  /** The file is closed by whoever opened it. */
  async destroy(): Promise<void> {}
}
