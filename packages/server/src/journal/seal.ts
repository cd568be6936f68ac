import { sql } from "kysely";
import type { Queries, Store } from "../store/store.ts";
import type { ChainedEvent } from "./canonical.ts";
import { type ChainHead, chainHash, genesisHead } from "./chain.ts";

/** Another sealer was faster. Nothing was written; the next turn starts from what it left. */
export class SealingRace extends Error {
  override readonly name = "SealingRace";
}

/** A head that someone moved behind the events it should name. */
export interface StrayHead {
  readonly tenantId: string;
  /** Null where the row was gone. */
  readonly head: ChainHead | null;
  readonly last: ChainHead;
}

export interface SealedBatch {
  readonly events: number;
  readonly strayHeads: readonly StrayHead[];
}

interface SealedEvent extends ChainedEvent {
  readonly hash: string;
}

interface TenantBatch {
  readonly tenantId: string;
  /** The row as it was read; it must be the same when it is moved on. */
  readonly head: ChainHead | null;
  readonly events: readonly SealedEvent[];
  readonly stray: StrayHead | null;
}

export async function hasUnsealed(q: Queries): Promise<boolean> {
  const row = await q.db.selectFrom("journal_events").select("id").where("seq", "is", null).limit(1).executeTakeFirst();
  return row !== undefined;
}

/**
 * Chains unsealed events, at most `limit` and each tenant's oldest first, in one transaction. Whoever moves a head on must have seen it as
 * it still is, so two sealers can never fork a chain, whatever became of their lease: the slower one writes nothing
 * and gets a `SealingRace`.
 */
export async function sealBatch(store: Store, limit: number): Promise<SealedBatch> {
  return store.transaction(async (tx) => {
    const batches = await readBatch(tx, limit);
    for (const batch of batches) await moveHead(tx, batch);
    await storeSeals(
      tx,
      batches.flatMap((batch) => batch.events),
    );
    return {
      events: batches.reduce((sum, batch) => sum + batch.events.length, 0),
      strayHeads: batches.flatMap((batch) => batch.stray ?? []),
    };
  });
}

/** The next events of each tenant, chained to its head; tenants in a fixed order, so that sealers cannot deadlock. */
async function readBatch(tx: Queries, limit: number): Promise<TenantBatch[]> {
  const rows = await tx.db
    .selectFrom("journal_events")
    .select(["id", "tenant_id", "at", "type", "subject", "session_id", "data"])
    .where("seq", "is", null)
    .orderBy("tenant_id")
    .orderBy("at")
    .orderBy("id")
    .limit(limit)
    .execute();
  const byTenant = Map.groupBy(rows, (row) => row.tenant_id);
  const batches: TenantBatch[] = [];
  for (const [tenantId, tenantRows] of [...byTenant].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const head = await readHead(tx, tenantId);
    const last = await readLastSealed(tx, tenantId);
    const stray = last !== null && last.seq > (head?.seq ?? 0) ? { tenantId, head, last } : null;
    // A head ahead of its events is kept: the gap that someone made stays visible to `journal verify`.
    let link = stray ? stray.last : (head ?? genesisHead(tenantId));
    const events = tenantRows.map((row) => {
      const event = {
        id: row.id,
        tenantId,
        at: row.at,
        type: row.type,
        subject: row.subject,
        sessionId: row.session_id,
        data: row.data,
        seq: link.seq + 1,
      };
      const sealed = { ...event, hash: chainHash(link.hash, event) };
      link = sealed;
      return sealed;
    });
    batches.push({ tenantId, head, events, stray });
  }
  return batches;
}

async function readHead(tx: Queries, tenantId: string): Promise<ChainHead | null> {
  const row = await tx.db
    .selectFrom("journal_heads")
    .select(["seq", "hash"])
    .where("tenant_id", "=", tenantId)
    .executeTakeFirst();
  return row ?? null;
}

async function readLastSealed(tx: Queries, tenantId: string): Promise<ChainHead | null> {
  const row = await tx.db
    .selectFrom("journal_events")
    .select(["seq", "hash"])
    .where("tenant_id", "=", tenantId)
    .where("seq", "is not", null)
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
  return row ? { seq: row.seq ?? 0, hash: row.hash ?? "" } : null;
}

async function moveHead(tx: Queries, { tenantId, head, events }: TenantBatch): Promise<void> {
  const last = events.at(-1);
  if (!last) return;
  const next = { seq: last.seq, hash: last.hash };
  const moved = head
    ? await tx.db
        .updateTable("journal_heads")
        .set(next)
        .where("tenant_id", "=", tenantId)
        .where("seq", "=", head.seq)
        .where("hash", "=", head.hash)
        .executeTakeFirst()
        .then((result) => result.numUpdatedRows)
    : await tx.db
        .insertInto("journal_heads")
        .values({ tenant_id: tenantId, ...next })
        .onConflict((conflict) => conflict.column("tenant_id").doNothing())
        .executeTakeFirst()
        .then((result) => result.numInsertedOrUpdatedRows);
  if (moved !== 1n) throw new SealingRace(`Another sealer moved the journal of tenant ${tenantId} on.`);
}

async function storeSeals(tx: Queries, events: readonly SealedEvent[]): Promise<void> {
  if (events.length === 0) return;
  // One parameter however many events there are, so that the statement is prepared once.
  const seals = JSON.stringify(events.map(({ id, seq, hash }) => [id, seq, hash]));
  const each = sql.raw(tx.kind === "sqlite" ? "json_each" : "json_array_elements");
  const result = await sql`
    WITH sealed AS (
      SELECT value ->> 0 AS id, cast(value ->> 1 AS bigint) AS seq, value ->> 2 AS hash FROM ${each}(${seals})
    )
    UPDATE journal_events SET seq = sealed.seq, hash = sealed.hash FROM sealed
    WHERE journal_events.id = sealed.id AND journal_events.seq IS NULL`.execute(tx.db);
  if (result.numAffectedRows !== BigInt(events.length)) {
    throw new SealingRace("Another sealer has chained some of these events.");
  }
}
