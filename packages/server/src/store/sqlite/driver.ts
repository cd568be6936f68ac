import type { DatabaseSync } from "node:sqlite";
import type { Driver, TransactionSettings } from "kysely";
import { type SharedConnection, SqliteConnection } from "./connection.ts";
import { Mutex } from "./mutex.ts";
import { Statements } from "./statements.ts";

export class SqliteDriver implements Driver {
  readonly #shared: SharedConnection;

  constructor(db: DatabaseSync, options: { readonly patience: number }) {
    this.#shared = { db, statements: new Statements(db), turn: new Mutex(), patience: options.patience };
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    const connection = new SqliteConnection(this.#shared);
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
