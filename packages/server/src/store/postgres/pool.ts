import pg from "pg";

const int8 = 20;

/** Instants and counters are int8 columns; they come back as numbers, and never as wrong ones. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`The database holds ${text}, too large for a whole number.`);
  return value;
}

const types = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === int8 && format !== "binary" ? parseInt8 : pg.types.getTypeParser(oid, format as "text"),
};

/** Milliseconds. Everyday queries are short: one that is not has met a lock or a sick server, and its caller a 503. */
const everyday = {
  statement_timeout: 2500,
  lock_timeout: 2000,
  idle_in_transaction_session_timeout: 10_000,
  // For a server that has vanished without a word.
  query_timeout: 3500,
};
const unhurried = { lock_timeout: 60_000 };

export function connectionOptions(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: "fieldgate",
    connectionTimeoutMillis: 2000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types,
  };
}

export function openPool(url: string, size: number, pace: "everyday" | "unhurried"): pg.Pool {
  const pool = new pg.Pool({
    ...connectionOptions(url),
    ...(pace === "everyday" ? everyday : unhurried),
    max: size,
    idleTimeoutMillis: 30_000,
  });
  // A connection that dies while nobody asks for it is no news: the pool drops it, and the next query opens another.
  pool.on("error", () => {});
  // While a client is lent out the pool does not listen; its query rejects with the same error.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}
