import { type CompiledQuery, type DatabaseConnection, type Dialect, type Driver, Kysely } from "kysely";
import type { TransactionQueries } from "./backend.ts";
import type { Database } from "./schema.ts";

/*
 * The ways to a connection that Kysely has too, in fewer steps: on SQLite its own take longer than most statements. Only
 * statements that are built already can go by them; see `prepare`.
 */

/** Runs one statement by itself. */
export async function runAlone<Row>(driver: Driver, query: CompiledQuery<Row>): Promise<Row[]> {
  const connection = await driver.acquireConnection();
  try {
    const { rows } = await connection.executeQuery<Row>(query);
    return rows;
  } finally {
    await driver.releaseConnection(connection);
  }
}

/** Runs `work` on a connection in a transaction, which an error undoes. */
async function inTransaction<T>(driver: Driver, work: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
  const connection = await driver.acquireConnection();
  try {
    await driver.beginTransaction(connection, {});
    try {
      const result = await work(connection);
      await driver.commitTransaction(connection);
      return result;
    } catch (error) {
      await driver.rollbackTransaction(connection);
      throw error;
    }
  } finally {
    await driver.releaseConnection(connection);
  }
}

/** The same with both ways to ask: what is built already, and what Kysely builds. */
export function transactionOn<T>(
  driver: Driver,
  dialect: Dialect,
  work: (tx: TransactionQueries) => Promise<T>,
): Promise<T> {
  return inTransaction(driver, (connection) => {
    let db: Kysely<Database> | undefined;
    return work({
      get db() {
        db ??= kyselyOn(dialect, connection);
        return db;
      },
      run: async (query) => (await connection.executeQuery<never>(query)).rows,
    });
  });
}

/** A Kysely all of whose queries run on one connection, for what is built anew each time. */
function kyselyOn(dialect: Dialect, connection: DatabaseConnection): Kysely<Database> {
  return new Kysely<Database>({
    dialect: {
      createDriver: () => new BorrowedConnection(connection),
      createQueryCompiler: () => dialect.createQueryCompiler(),
      createAdapter: () => dialect.createAdapter(),
      createIntrospector: (db) => dialect.createIntrospector(db),
    },
  });
}

const isBorrowed = () => new Error("A transaction does not begin, or end, another one.");

class BorrowedConnection implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    throw isBorrowed();
  }

  async commitTransaction(): Promise<void> {
    throw isBorrowed();
  }

  async rollbackTransaction(): Promise<void> {
    throw isBorrowed();
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}
