import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
  type TransactionSettings,
} from "kysely";
import { type Flush, StoreUnavailable } from "../store.ts";
import { isBusy, translateError } from "./errors.ts";
import { Mutex } from "./mutex.ts";
import { Statements } from "./statements.ts";

/** What the process has once, and each user of the connection in turn. */
export interface SharedConnection {
  readonly db: DatabaseSync;
  readonly statements: Statements;
  readonly turn: Mutex;
  /** Milliseconds to wait for the turn, and for another process that writes. */
  readonly patience: number;
  /** What the file's `synchronous` is set to: whoever begins something sets it as they need it. */
  flush: Flush;
}

export const shareConnection = (db: DatabaseSync, patience: number): SharedConnection => ({
  db,
  statements: new Statements(db),
  turn: new Mutex(),
  patience,
  flush: "first",
});

/**
 * One turn at the connection. After an error inside a transaction nothing but a rollback is possible, as on
 * PostgreSQL: a flow that would only work on one of the two databases fails its tests on both.
 */
export class SqliteConnection implements DatabaseConnection {
  readonly #shared: SharedConnection;
  readonly #flush: Flush;
  #hasTurn = false;
  #transaction: "none" | "open" | "failed" = "none";

  constructor(shared: SharedConnection, flush: Flush) {
    this.#shared = shared;
    this.#flush = flush;
  }

  async takeTurn(): Promise<void> {
    await this.#shared.turn.take(this.#shared.patience);
    this.#hasTurn = true;
  }

  passTurn(): void {
    if (!this.#hasTurn) return;
    this.#hasTurn = false;
    this.#shared.turn.pass();
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (!this.#hasTurn) throw new Error("This connection was given back: its transaction has ended.");
    if (this.#transaction === "none") return await this.#patiently(() => this.#run<R>(query.sql, query.parameters));
    this.#assertAlive();
    try {
      return this.#run<R>(query.sql, query.parameters);
    } catch (error) {
      this.#transaction = "failed";
      throw translateError(error);
    }
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("The store does not stream: read long results page by page.");
  }

  /**
   * Takes the write lock at once: a deferred begin would fail half-way when another process writes. What only reads
   * takes none, and sees the database as it was at its first query.
   */
  async begin({ accessMode }: TransactionSettings = {}): Promise<void> {
    await this.#patiently(() => this.#run(accessMode === "read only" ? "begin" : "begin immediate", []));
    this.#transaction = "open";
  }

  commit(): void {
    if (this.#transaction === "failed") {
      this.rollback();
      throw new AbortedTransactionError();
    }
    this.#assertAlive();
    try {
      this.#run("commit", []);
      this.#transaction = "none";
    } catch (error) {
      throw translateError(error);
    }
  }

  rollback(): void {
    this.#transaction = "none";
    const { db } = this.#shared;
    // SQLite has rolled back by itself after some errors, a full disk among them.
    if (!db.isOpen || !db.isTransaction) return;
    try {
      db.exec("rollback");
    } catch {
      // The error that led here is the one to tell; `#patiently` clears up before the connection is used again.
    }
  }

  #run<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    const { statement, returnsRows } = this.#shared.statements.get(sql);
    const values = toParameters(parameters);
    if (returnsRows) return { rows: statement.all(...values) as R[] };
    const { changes, lastInsertRowid } = statement.run(...values);
    return { numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid), rows: [] };
  }

  /**
   * Tries again while another process holds the lock. SQLite's own busy time-out would stop the whole process
   * meanwhile; here the turn is passed on, so that others may read.
   */
  async #patiently<T>(work: () => T): Promise<T> {
    const start = performance.now();
    for (let pause = 1; ; pause = Math.min(pause * 2, 20)) {
      try {
        // A rollback that failed left its transaction behind.
        if (this.#shared.db.isTransaction) this.#shared.db.exec("rollback");
        this.#setFlush();
        return work();
      } catch (error) {
        if (!isBusy(error) || performance.now() - start > this.#shared.patience) throw translateError(error);
      }
      this.passTurn();
      await sleep(pause * (0.5 + Math.random()));
      await this.takeTurn();
    }
  }

  #setFlush(): void {
    if (this.#shared.flush === this.#flush) return;
    this.#shared.db.exec(`pragma synchronous = ${this.#flush === "first" ? "full" : "normal"}`);
    this.#shared.flush = this.#flush;
  }

  #assertAlive(): void {
    if (this.#transaction === "failed") throw new Error("This transaction has failed; it can only be rolled back.");
    // Without this, statements after SQLite's own rollback would commit one by one.
    if (!this.#shared.db.isTransaction) throw new StoreUnavailable("The database has rolled this transaction back.");
  }
}

/** Whole numbers become SQLite integers: `node:sqlite` would bind every number as a floating one. */
function toParameters(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters.map((value) => {
    switch (typeof value) {
      case "number":
        return Number.isSafeInteger(value) ? BigInt(value) : value;
      case "string":
      case "bigint":
        return value;
      case "object":
        if (value === null || value instanceof Uint8Array) return value;
    }
    throw new TypeError(`A query parameter is a ${typeof value}; the store takes text, numbers, bytes and null.`);
  });
}
