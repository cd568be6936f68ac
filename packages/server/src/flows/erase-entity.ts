import type { TenantCipher } from "../people/data-keys.ts";
import { findBeneficiary } from "../store/beneficiaries.ts";
import { isOneOf } from "../store/bulk.ts";
import type { Queries } from "../store/store.ts";
import { findEntities, lockLog, saveEntities } from "../store/sync-log.ts";
import { appendServerEvent, operator } from "./sync-append.ts";

/** The entity with those that were merged into it: together they are what is kept of one person. */
export async function withMerged(q: Queries, tenantId: string, entityId: string): Promise<string[]> {
  const rows = await q.db
    .selectFrom("sync_entities")
    .select("entity_id")
    .where("tenant_id", "=", tenantId)
    .where("merged_into", "=", entityId)
    .execute();
  return [entityId, ...rows.map((row) => row.entity_id)];
}

/**
 * What the log keeps sealed of an entity, and must not be found any more when it is erased. Of long texts the beginning and
 * the end: a database keeps them in pieces.
 */
export async function eventTraces(q: Queries, tenantId: string, entityId: string): Promise<string[]> {
  const rows = await q.db
    .selectFrom("sync_events")
    .select("sealed_event")
    .where("tenant_id", "=", tenantId)
    .where(isOneOf(q, "entity_id", await withMerged(q, tenantId, entityId)))
    .execute();
  return rows
    .flatMap(({ sealed_event: sealed }) => sealed ?? [])
    .flatMap((text) => (text.length <= 2 * pieceSize ? [text] : [text.slice(0, pieceSize), text.slice(-pieceSize)]));
}

const pieceSize = 200;

/** Whether an entity has events, and is no person who could sign in. */
export async function isOnlyInEvents(q: Queries, cipher: TenantCipher, id: string): Promise<boolean> {
  const [entity] = await findEntities(q, cipher.tenantId, [id]);
  return entity?.erased_at === null && (await findBeneficiary(q, cipher, id)) === null;
}

/**
 * Removes what events say of an entity. Their ids and places stay, so that a device that sends one again does not bring
 * it back; devices are told to forget the entity, and nothing more is taken of it. False where no event spoke of it.
 */
export async function eraseEntity(tx: Queries, cipher: TenantCipher, entityId: string): Promise<boolean> {
  const { tenantId } = cipher;
  const { now } = await lockLog(tx, tenantId);
  let known = false;
  for (const id of await withMerged(tx, tenantId, entityId)) {
    const [entity] = await findEntities(tx, tenantId, [id]);
    if (!entity) {
      const none = { device_id: "", run_start: 0, deleted_at: null, merged_into: null };
      await saveEntities(tx, [{ tenant_id: tenantId, entity_id: id, version: 0, ...none, erased_at: now }]);
      continue;
    }
    known = true;
    await tx.db
      .updateTable("sync_events")
      .set({ sealed_event: null, size: 0 })
      .where("tenant_id", "=", tenantId)
      .where("entity_id", "=", id)
      .execute();
    const event = { entityId: id, type: "erase-entity", data: {}, status: "applied", author: operator } as const;
    await appendServerEvent(tx, cipher, event, { erased_at: now });
  }
  await tx.db
    .deleteFrom("sync_proposals")
    .where("tenant_id", "=", tenantId)
    .where("entity_id", "=", entityId)
    .execute();
  return known;
}

/** Notes that two entities are one person: events of both stay as they are, and are erased together. */
export async function mergeEntities(tx: Queries, cipher: TenantCipher, from: string, into: string): Promise<void> {
  const { tenantId } = cipher;
  await tx.db
    .updateTable("sync_entities")
    .set({ merged_into: into })
    .where("tenant_id", "=", tenantId)
    .where("merged_into", "=", from)
    .execute();
  const event = { entityId: from, type: "merge-entity", data: { into }, status: "applied", author: operator } as const;
  await appendServerEvent(tx, cipher, event, { merged_into: into });
  await tx.db.deleteFrom("sync_proposals").where("tenant_id", "=", tenantId).where("entity_id", "=", from).execute();
}
