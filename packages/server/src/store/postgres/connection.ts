import { setImmediate as othersTurn } from "node:timers/promises";
import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
  type TransactionSettings,
} from "kysely";
import type pg from "pg";
import { type Flush, StoreUnavailable } from "../store.ts";
import {
  ConnectionLost,
  isCollision,
  isStaleStatement,
  ServerSilent,
  translateConnectError,
  translateError,
} from "./errors.ts";
import type { StatementNames } from "./statement-names.ts";

/** A client of the pool for the time of one query or one transaction. */
export class PostgresConnection implements DatabaseConnection {
  readonly #pool: pg.Pool;
  readonly #names: StatementNames;
  #client: pg.PoolClient | null;
  #inTransaction = false;
  #isLost = false;

  private constructor(pool: pg.Pool, names: StatementNames, client: pg.PoolClient) {
    this.#pool = pool;
    this.#names = names;
    this.#client = client;
  }

  static async take(pool: pg.Pool, names: StatementNames): Promise<PostgresConnection> {
    return new PostgresConnection(pool, names, await connect(pool));
  }

  release(): void {
    const client = this.#client;
    this.#client = null;
    client?.release(this.#isLost);
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const name = this.#names.nameOf(query.sql);
    if (this.#inTransaction) return toResult<R>(await this.#send(query.sql, query.parameters, name));
    try {
      return toResult<R>(await this.#send(query.sql, query.parameters, name));
    } catch (error) {
      if (isStaleStatement(error)) return toResult<R>(await this.#send(query.sql, query.parameters, undefined));
      if (isCollision(error)) throw new StoreUnavailable("Others were in the way of a query.", { cause: error });
      // The server may have closed a connection that lay idle; to read twice does no harm.
      if (!(error instanceof ConnectionLost) || query.query.kind !== "SelectQueryNode") throw error;
    }
    await this.#replaceClient();
    return toResult<R>(await this.#send(query.sql, query.parameters, name));
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("The store does not stream: read long results page by page.");
  }

  async begin(settings: TransactionSettings, flush: Flush): Promise<void> {
    const level = settings.isolationLevel === undefined ? "" : ` isolation level ${settings.isolationLevel}`;
    const hurry = flush === "later" ? "; set local synchronous_commit = off" : "";
    const begin = `begin${level}${settings.accessMode === "read only" ? " read only" : ""}${hurry}`;
    try {
      await this.#send(begin, []);
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      await this.#replaceClient();
      await this.#send(begin, []);
    }
    this.#inTransaction = true;
  }

  async commit(): Promise<void> {
    const { command } = await this.#send("commit", []);
    this.#inTransaction = false;
    // PostgreSQL answers so when a statement had failed before and the flow went on regardless.
    if (command === "ROLLBACK") throw new AbortedTransactionError();
  }

  async rollback(): Promise<void> {
    this.#inTransaction = false;
    if (this.#isLost) return;
    try {
      await this.#send("rollback", []);
    } catch {
      // The error that led here is the one to tell. This connection is not used again, and the server rolls back.
      this.#isLost = true;
    }
  }

  async #send(text: string, values: readonly unknown[], name?: string): Promise<pg.QueryResult> {
    if (this.#client === null) throw new StoreUnavailable("The connection to the database was given back.");
    try {
      const config = { text, values: values as unknown[] };
      return await this.#client.query(name === undefined ? config : { ...config, name });
    } catch (error) {
      const translated = translateError(error);
      this.#isLost ||= translated instanceof ConnectionLost || translated instanceof ServerSilent;
      this.#isLost ||= isStaleStatement(error);
      throw translated;
    }
  }

  async #replaceClient(): Promise<void> {
    // First back with the old one: it may have the only seat in the pool.
    this.release();
    // The others of the pool may have been cut at the same moment: let it notice.
    await othersTurn();
    this.#client = await connect(this.#pool);
    this.#isLost = false;
  }
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw translateConnectError(error);
  }
}

const writes: ReadonlySet<string> = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

function toResult<R>(result: pg.QueryResult): QueryResult<R> {
  if (!writes.has(result.command)) return { rows: result.rows };
  return { rows: result.rows, numAffectedRows: BigInt(result.rowCount ?? 0) };
}
