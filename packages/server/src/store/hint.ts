import { sql } from "kysely";
import type { Queries } from "./store.ts";

/** The PostgreSQL channel on which nodes tell each other that something changed; the payload is the topic. */
export const hintChannel = "fieldgate_hints";

/** Tells the other nodes when the transaction commits. On SQLite they notice by themselves: see `Store.onHint`. */
export async function sendHint(tx: Queries, topic: string): Promise<void> {
  if (tx.kind === "postgres") await sql`SELECT pg_notify(${hintChannel}, ${topic})`.execute(tx.db);
}
