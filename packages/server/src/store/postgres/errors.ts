import pg from "pg";
import { StoreUnavailable } from "../store.ts";

/** The connection broke under a query, so that nobody knows whether the query took place. */
export class ConnectionLost extends StoreUnavailable {}

/** No answer came in time; the connection is of no more use, and asking again at once is of none either. */
export class ServerSilent extends StoreUnavailable {}

/** Classes of SQLSTATE that speak of the server rather than of the statement. */
const unavailableClasses: ReadonlySet<string> = new Set([
  "08", // connection
  "28", // the server does not let us in
  "53", // out of disk, memory or connections
  "57", // shut down, cancelled, statement time-out
  "58", // input and output
]);
const unavailableCodes: ReadonlySet<string> = new Set([
  "25006", // read-only: a standby, or a server that protects its last bytes
  "25P03", // idle in transaction for too long
  "3D000", // no such database
  "55P03", // lock time-out
]);
const goneCodes: ReadonlySet<string> = new Set(["57P01", "57P02", "57P03", "57P04", "57P05", "25P03"]);
const collisionCodes: ReadonlySet<string> = new Set(["40001", "40P01"]);

/** Two transactions stood in each other's way, and the server ended this one. */
export function isCollision(error: unknown): boolean {
  return isStaleStatement(error) || collisionCodes.has(sqlState(error));
}

/** A prepared statement no longer fits the tables, or a proxy gave us a connection that does not know it. */
export function isStaleStatement(error: unknown): boolean {
  const state = sqlState(error);
  if (state === "26000" || state === "42P05") return true;
  return state === "0A000" && error instanceof Error && error.message.startsWith("cached plan");
}

/** Turns what means "the database cannot be used" into `StoreUnavailable`, and leaves every other error as it is. */
export function translateError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreUnavailable) return error;
  const state = sqlState(error);
  if (goneCodes.has(state)) return new ConnectionLost(describe(error), { cause: error });
  if (unavailableCodes.has(state) || unavailableClasses.has(state.slice(0, 2))) {
    return new StoreUnavailable(describe(error), { cause: error });
  }
  if (error instanceof pg.DatabaseError) return error;
  if (error.message === "Query read timeout") return new ServerSilent(describe(error), { cause: error });
  return isConnectionTrouble(error) ? new ConnectionLost(describe(error), { cause: error }) : error;
}

/** Whatever keeps us from a connection means that the database cannot be used. */
export function translateConnectError(error: unknown): StoreUnavailable {
  return error instanceof StoreUnavailable ? error : new StoreUnavailable(describe(error), { cause: error });
}

function sqlState(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? "") : "";
}

/** `pg` throws plain errors, told apart by their text, when the socket closes. */
function isConnectionTrouble(error: Error): boolean {
  if ("syscall" in error) return true;
  return /^Connection terminated|not queryable$|^Cannot use a pool/.test(error.message);
}

function describe(error: unknown): string {
  // A host with several addresses gives an error without words that holds one for each of them.
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const reason = first instanceof Error ? first.message : String(first);
  return `The database cannot be used: ${reason}.`;
}
