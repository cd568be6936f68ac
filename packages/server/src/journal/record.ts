import { randomUUID } from "node:crypto";
import type { Queries } from "../store/store.ts";
import type { JournalEvent } from "./event.ts";

/** Writes an event in the transaction of what it tells of: both happen, or neither. The sealer chains it later. */
export async function recordEvent(tx: Queries, event: JournalEvent): Promise<void> {
  await tx.db
    .insertInto("journal_events")
    .values({
      id: randomUUID(),
      tenant_id: event.tenantId,
      at: tx.now,
      type: event.type,
      subject: event.subject ?? null,
      session_id: event.sessionId ?? null,
      data: JSON.stringify(event.data ?? {}),
      seq: null,
      hash: null,
    })
    .execute();
}
