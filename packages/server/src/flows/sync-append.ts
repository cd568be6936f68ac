import { randomUUID } from "node:crypto";
import type { EventStatus, SyncEvent } from "@fieldgate/contract";
import type { TenantCipher } from "../people/data-keys.ts";
import type { Queries } from "../store/store.ts";
import { appendRows, type EntityRow, findEntities, lockLog, saveEntities } from "../store/sync-log.ts";
import { type EventContent, eventRow } from "./sync-content.ts";

/** An event that comes from the server and no device. */
export interface ServerEvent {
  readonly entityId: string;
  readonly type: string;
  readonly data: SyncEvent["data"];
  readonly status: EventStatus;
  readonly author: EventContent["author"];
  readonly proposalId?: string;
}

/** Whoever works at the command line and does not say who it is. */
export const operator: EventContent["author"] = { userId: "operator", username: "operator" };

const serverDevice = "server";

/**
 * Appends an event of the server's own, and gives the entity what else is to change. Take the log (`lockLog`) before
 * anything else in the transaction: a push does the same, and so neither waits for the other half-way.
 */
export async function appendServerEvent(
  tx: Queries,
  cipher: TenantCipher,
  event: ServerEvent,
  change: Partial<Pick<EntityRow, "deleted_at" | "erased_at" | "merged_into">> = {},
): Promise<void> {
  const head = await lockLog(tx, cipher.tenantId);
  const [entity] = await findEntities(tx, cipher.tenantId, [event.entityId]);
  const before = entity?.version ?? 0;
  const { data, ...rest } = event;
  const row = eventRow(cipher, {
    ...rest,
    id: randomUUID(),
    deviceTime: new Date(head.now).toISOString(),
    sequence: before + 1,
    baseVersion: before,
    version: before + 1,
    deviceId: serverDevice,
    claimedDevice: "",
    position: head.position + 1,
    receivedAt: head.now,
    dataText: JSON.stringify(data),
  });
  await appendRows(tx, [row]);
  await saveEntities(tx, [
    {
      tenant_id: cipher.tenantId,
      entity_id: event.entityId,
      deleted_at: entity?.deleted_at ?? null,
      erased_at: entity?.erased_at ?? null,
      merged_into: entity?.merged_into ?? null,
      ...change,
      version: before + 1,
      device_id: serverDevice,
      run_start: before,
    },
  ]);
}
