import { randomUUID } from "node:crypto";
import type { Insertable } from "kysely";
import { prepare } from "../store/prepared.ts";
import type { JournalEventTable } from "../store/schema.ts";
import type { Queries } from "../store/store.ts";
import type { JournalEvent } from "./event.ts";

type Row = Omit<Insertable<JournalEventTable>, "at" | "seq" | "hash">;

const insertEvent = prepare((tx, row: Row) =>
  tx.db.insertInto("journal_events").values({ ...row, at: tx.now, seq: null, hash: null }),
);

/** Writes an event in the transaction of what it tells of: both happen, or neither. The sealer chains it later. */
export async function recordEvent(tx: Queries, event: JournalEvent): Promise<void> {
  await insertEvent(tx, {
    id: randomUUID(),
    tenant_id: event.tenantId,
    type: event.type,
    subject: event.subject ?? null,
    session_id: event.sessionId ?? null,
    data: JSON.stringify(event.data ?? {}),
  });
}
