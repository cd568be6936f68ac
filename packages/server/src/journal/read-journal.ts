import { type SqlBool, sql } from "kysely";
import type { Queries } from "../store/store.ts";
import type { EventRecord, JournalRecord, MalformedRecord } from "./record-stream.ts";

/** Which events to read; a filter other than `tenantId` leaves holes in the chain. */
export interface JournalFilter {
  readonly tenantId?: string | undefined;
  /** Milliseconds: events at or after it. */
  readonly from?: number | undefined;
  /** Milliseconds: events before it. */
  readonly to?: number | undefined;
  readonly type?: string | undefined;
}

const pageSize = 1000;

/** A number as text: one that was made too large to be read must be found, not stop the search. */
const asText = <Column extends string>(column: Column) => sql<string>`cast(${sql.ref(column)} as text)`.as(column);

/** Streams the sealed journal, page by page, tenant by tenant. Read it inside a snapshot. */
export async function* readJournal(q: Queries, filter: JournalFilter = {}): AsyncGenerator<JournalRecord> {
  for await (const tenantId of listJournalTenants(q, filter.tenantId)) {
    yield { record: "tenant", tenantId };
    yield* readTenant(q, tenantId, filter);
    const head = await q.db
      .selectFrom("journal_heads")
      .select([asText("seq"), "hash"])
      .where("tenant_id", "=", tenantId)
      .executeTakeFirst();
    if (head) yield { record: "head", tenantId, seq: Number(head.seq), hash: head.hash };
  }
}

/** Every tenant that has, or should have, a chain: found from events, heads and checkpoints alike. */
async function* listJournalTenants(q: Queries, only: string | undefined): AsyncGenerator<string> {
  for (let after = ""; ; ) {
    const tables = ["journal_events", "journal_heads", "journal_checkpoints"] as const;
    const found: string[] = [];
    for (const table of tables) {
      const row = await q.db
        .selectFrom(table)
        .select("tenant_id")
        .where(only === undefined ? sql<SqlBool>`tenant_id > ${after}` : sql<SqlBool>`tenant_id = ${only}`)
        .orderBy("tenant_id")
        .limit(1)
        .executeTakeFirst();
      if (row) found.push(row.tenant_id);
    }
    const next = found.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))[0];
    if (next === undefined) return;
    yield next;
    if (only !== undefined) return;
    after = next;
  }
}

async function* readTenant(q: Queries, tenantId: string, filter: JournalFilter): AsyncGenerator<JournalRecord> {
  const checkpoints = readCheckpoints(q, tenantId);
  let checkpoint = await checkpoints.next();
  for await (const event of readEvents(q, tenantId, filter)) {
    while (!checkpoint.done && event.record === "event" && checkpoint.value.seq < event.seq) {
      yield checkpoint.value;
      checkpoint = await checkpoints.next();
    }
    yield event;
  }
  while (!checkpoint.done) {
    yield checkpoint.value;
    checkpoint = await checkpoints.next();
  }
}

async function* readEvents(
  q: Queries,
  tenantId: string,
  filter: JournalFilter,
): AsyncGenerator<EventRecord | MalformedRecord> {
  let after: { seq: number; id: string } | null = null;
  for (;;) {
    let query = q.db
      .selectFrom("journal_events")
      .select(["id", asText("at"), "type", "subject", "session_id", "data", asText("seq"), "hash"])
      .where("tenant_id", "=", tenantId)
      .where("seq", "is not", null)
      .orderBy("journal_events.seq")
      .orderBy("id")
      .limit(pageSize);
    if (after !== null) query = query.where(sql<SqlBool>`(seq, id) > (${after.seq}, ${after.id})`);
    if (filter.from !== undefined) query = query.where("at", ">=", filter.from);
    if (filter.to !== undefined) query = query.where("at", "<", filter.to);
    if (filter.type !== undefined) query = query.where("type", "=", filter.type);
    const rows = await query.execute();
    for (const row of rows) {
      const seq = Number(row.seq);
      if (!Number.isSafeInteger(seq)) {
        yield { record: "malformed", tenantId, seq: null, what: `claims place ${row.seq}` };
        return;
      }
      after = { seq, id: row.id };
      const at = Number(row.at);
      const texts = [row.id, row.type, row.data, row.hash, row.subject ?? "", row.session_id ?? ""];
      if (!Number.isSafeInteger(at) || texts.some((text) => typeof text !== "string")) {
        yield { record: "malformed", tenantId, seq, what: "has a value of a kind that Fieldgate never writes" };
        continue;
      }
      yield {
        record: "event",
        seq,
        hash: row.hash ?? "",
        id: row.id,
        tenantId,
        at,
        type: row.type,
        subject: row.subject,
        sessionId: row.session_id,
        data: row.data,
      };
    }
    if (rows.length < pageSize) return;
  }
}

async function* readCheckpoints(
  q: Queries,
  tenantId: string,
): AsyncGenerator<JournalRecord & { record: "checkpoint" }, void> {
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = await q.db
      .selectFrom("journal_checkpoints")
      .select([asText("seq"), "hash", asText("at"), "key_id", "signature"])
      .where("tenant_id", "=", tenantId)
      .where("seq", ">", after)
      .orderBy("journal_checkpoints.seq")
      .limit(pageSize)
      .execute();
    for (const { seq: place, hash, at, key_id, signature } of rows) {
      const seq = Number(place);
      yield { record: "checkpoint", tenantId, seq, hash, at: Number(at), keyId: key_id, signature };
      if (!Number.isSafeInteger(seq)) return;
      after = seq;
    }
    if (rows.length < pageSize) return;
  }
}
