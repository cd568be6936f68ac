import { randomBytes } from "node:crypto";
import type { Insertable, Selectable } from "kysely";
import { insertMany, isOneOf } from "./bulk.ts";
import { prepare } from "./prepared.ts";
import type { SyncEntityTable, SyncEventTable } from "./schema.ts";
import type { Queries } from "./store.ts";

/** The end of a tenant's log, held until the transaction ends. */
export interface LogHead {
  readonly epoch: string;
  /** The position of the newest event. */
  readonly position: number;
  /** The database's clock, in milliseconds. */
  readonly now: number;
}

export type EventRow = Selectable<SyncEventTable>;
export type EntityRow = Selectable<SyncEntityTable>;

/** Where the content of an event lies sealed: it opens only as this event of this entity. */
export const eventPlace = (entityId: string, id: string) => ({
  table: "sync_events",
  row: `${entityId}/${id}`,
  column: "sealed_event",
});

const selectHead = prepare((q, { tenantId }: { tenantId: string }) => {
  const query = q.db
    .selectFrom("sync_heads")
    .select(["epoch", "position", q.now.as("now")])
    .where("tenant_id", "=", tenantId);
  // SQLite runs one writer at a time and needs no lock.
  return q.kind === "postgres" ? query.forUpdate() : query;
});

/**
 * Takes the end of a tenant's log for this transaction. Positions are given out by one transaction after the other, each
 * when the last has committed: so whoever has seen a position has seen, or can see, every smaller one.
 */
export async function lockLog(tx: Queries, tenantId: string): Promise<LogHead> {
  const [head] = await selectHead(tx, { tenantId });
  if (head) return head;
  await tx.db
    .insertInto("sync_heads")
    .values({ tenant_id: tenantId, epoch: newEpoch(), position: 0 })
    .onConflict((conflict) => conflict.column("tenant_id").doNothing())
    .execute();
  const [made] = await selectHead(tx, { tenantId });
  if (!made) throw new Error(`The log of tenant ${tenantId} has no head.`);
  return made;
}

export const newEpoch = () => randomBytes(9).toString("base64url");

/** The epoch of a tenant's log; null before its first event. */
export async function findEpoch(q: Queries, tenantId: string): Promise<string | null> {
  const row = await q.db.selectFrom("sync_heads").select("epoch").where("tenant_id", "=", tenantId).executeTakeFirst();
  return row?.epoch ?? null;
}

const eventColumns = [
  ...(["tenant_id", "position", "id", "entity_id", "version", "received_at", "size", "sealed_event"] as const),
] as const satisfies readonly (keyof SyncEventTable)[];

const moveHead = prepare((q, { tenantId, position }: { tenantId: string; position: number }) =>
  q.db.updateTable("sync_heads").set({ position }).where("tenant_id", "=", tenantId),
);

/** Appends events behind a head that this transaction holds; their positions follow it without a gap. */
export async function appendRows(tx: Queries, rows: readonly Insertable<SyncEventTable>[]): Promise<void> {
  const last = rows.at(-1);
  if (!last) return;
  await insertMany(tx, "sync_events", eventColumns, rows);
  await moveHead(tx, { tenantId: last.tenant_id, position: last.position });
}

const entityColumns = [
  ...(["tenant_id", "entity_id", "version", "device_id", "run_start"] as const),
  ...(["deleted_at", "erased_at", "merged_into"] as const),
] as const satisfies readonly (keyof SyncEntityTable)[];

const replaceEntity = `on conflict (tenant_id, entity_id) do update set ${entityColumns
  .slice(2)
  .map((column) => `${column} = excluded.${column}`)
  .join(", ")}`;

/** Writes entities as they are now, those that are there already too. Each at most once. */
export async function saveEntities(tx: Queries, rows: readonly EntityRow[]): Promise<void> {
  await insertMany(tx, "sync_entities", entityColumns, rows, replaceEntity);
}

export async function findEntities(q: Queries, tenantId: string, ids: readonly string[]): Promise<EntityRow[]> {
  if (ids.length === 0) return [];
  return q.db
    .selectFrom("sync_entities")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where(isOneOf(q, "entity_id", ids))
    .execute();
}

export async function findEvents(q: Queries, tenantId: string, ids: readonly string[]): Promise<EventRow[]> {
  if (ids.length === 0) return [];
  return q.db
    .selectFrom("sync_events")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where(isOneOf(q, "id", ids))
    .execute();
}

/** Which part of a log is meant: behind a position, of one entity or of all. */
export interface LogPart {
  readonly tenantId: string;
  readonly entityId: string | null;
  readonly after: number;
}

function readable(q: Queries, { tenantId, entityId, after }: LogPart) {
  const query = q.db
    .selectFrom("sync_events")
    .where("tenant_id", "=", tenantId)
    .where("position", ">", after)
    .where("sealed_event", "is not", null)
    .orderBy("position");
  return entityId === null ? query : query.where("entity_id", "=", entityId);
}

/** A page of at most so many events and so many characters, but of at least one event where there is one. */
export async function pageOfEvents(
  q: Queries,
  part: LogPart,
  most: { readonly events: number; readonly size: number },
): Promise<{ readonly rows: EventRow[]; readonly more: boolean }> {
  // Measured before it is read: a page of large events must not fill the memory.
  const sizes = await readable(q, part)
    .select(["position", "size"])
    .limit(most.events + 1)
    .execute();
  let size = 0;
  const fitting = sizes.slice(0, most.events).filter((row, index) => {
    size += row.size;
    return index === 0 || size <= most.size;
  });
  const last = fitting.at(-1);
  if (!last) return { rows: [], more: false };
  const rows = await readable(q, part).where("position", "<=", last.position).selectAll().execute();
  return { rows, more: sizes.length > fitting.length };
}

/** How many changes of an entity wait for a supervisor. */
export async function countOpenProposals(q: Queries, tenantId: string, entityId: string): Promise<number> {
  const row = await q.db
    .selectFrom("sync_proposals")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("tenant_id", "=", tenantId)
    .where("entity_id", "=", entityId)
    .where("state", "=", "open")
    .executeTakeFirstOrThrow();
  return Number(row.count);
}
