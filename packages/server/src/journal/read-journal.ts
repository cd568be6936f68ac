import { type SqlBool, sql } from "kysely";
import type { Queries } from "../store/store.ts";
import type { EventRecord, JournalRecord } from "./record-stream.ts";

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

/** Streams the sealed journal, page by page, tenant by tenant. Read it inside a snapshot. */
export async function* readJournal(q: Queries, filter: JournalFilter = {}): AsyncGenerator<JournalRecord> {
  for await (const tenantId of listJournalTenants(q, filter.tenantId)) {
    yield { record: "tenant", tenantId };
    yield* readTenant(q, tenantId, filter);
    const head = await q.db
      .selectFrom("journal_heads")
      .select(["seq", "hash"])
      .where("tenant_id", "=", tenantId)
      .executeTakeFirst();
    if (head) yield { record: "head", tenantId, ...head };
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
    const next = await smallest(q, found);
    if (next === null) return;
    yield next;
    if (only !== undefined) return;
    after = next;
  }
}

/** By the database's own order, which need not be that of JavaScript. */
async function smallest(q: Queries, ids: readonly string[]): Promise<string | null> {
  if (ids.length === 0) return null;
  const values = sql.join(ids.map((id) => sql`(cast(${id} as text))`));
  const { rows } = await sql<{ id: string }>`
    WITH candidate (id) AS (VALUES ${values}) SELECT id FROM candidate ORDER BY id LIMIT 1`.execute(q.db);
  return rows[0]?.id ?? null;
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
): AsyncGenerator<EventRecord | (JournalRecord & { record: "malformed" })> {
  let after: { seq: number; id: string } | null = null;
  for (;;) {
    let query = q.db
      .selectFrom("journal_events")
      // Numbers as text: one that was made too large to be read must be found, not stop the search.
      .select(["id", "type", "subject", "session_id", "data", "hash"])
      .select([sql<string>`cast(at as text)`.as("at_text"), sql<string>`cast(seq as text)`.as("seq_text")])
      .where("tenant_id", "=", tenantId)
      .where("seq", "is not", null)
      .orderBy("seq")
      .orderBy("id")
      .limit(pageSize);
    if (after !== null) query = query.where(sql<SqlBool>`(seq, id) > (${after.seq}, ${after.id})`);
    if (filter.from !== undefined) query = query.where("at", ">=", filter.from);
    if (filter.to !== undefined) query = query.where("at", "<", filter.to);
    if (filter.type !== undefined) query = query.where("type", "=", filter.type);
    const rows = await query.execute();
    for (const row of rows) {
      const seq = Number(row.seq_text);
      if (!Number.isSafeInteger(seq)) {
        yield { record: "malformed", tenantId, seq: null, what: `has the seq ${row.seq_text}` };
        return;
      }
      after = { seq, id: row.id };
      const at = Number(row.at_text);
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
      .select(["seq", "hash", "at", "key_id", "signature"])
      .where("tenant_id", "=", tenantId)
      .where("seq", ">", after)
      .orderBy("seq")
      .limit(pageSize)
      .execute();
    for (const { seq, hash, at, key_id, signature } of rows) {
      yield { record: "checkpoint", tenantId, seq, hash, at, keyId: key_id, signature };
      after = seq;
    }
    if (rows.length < pageSize) return;
  }
}
