import type { EntityEvent, Receipt } from "../events/event.ts";
import type { PulledEvent } from "../sync/wire.ts";
import type { Held } from "./entity-projections.ts";
import type { ConfirmedEvent } from "./projection.ts";
import type { Workspace } from "./workspace.ts";

/** A person who must be forgotten. Only the service writes it. */
const erasure = "erase-entity";

/**
 * Takes in a page of the service's events. It may be taken in again, as a whole or in part, without doing anything twice: events
 * are known by their ids, and an entity by its version knows which of them it has seen.
 */
export async function receive(workspace: Workspace, page: readonly PulledEvent[]): Promise<string[]> {
  const { log } = workspace;
  const erased = new Set(page.filter(({ type }) => type === erasure).map(({ entityId }) => entityId));
  for (const entityId of erased) await workspace.erase(entityId);
  const events = page.filter(({ entityId }) => !erased.has(entityId));

  await log.add(events.map(toEvent));
  await log.settle(events.map((event) => ({ id: event.id, status: "confirmed", receipt: toReceipt(event) })));

  const perEntity = Map.groupBy(events.map(toConfirmed), ({ event }) => event.entityId);
  for (let left = [...perEntity.keys()]; left.length > 0; ) {
    const held = await workspace.entities.get(left);
    const lower = [...held.values()].map((each) => confirmAll(workspace, each, perEntity.get(each.id) ?? []));
    left = await workspace.entities.put(await overlayAll(workspace, lower));
  }
  return [...new Set(page.map(({ entityId }) => entityId))];
}

function confirmAll({ projector }: Workspace, held: Held, events: readonly ConfirmedEvent[]): Held {
  return { ...held, projection: events.reduce((before, event) => projector.confirm(before, event), held.projection) };
}

/** Puts back on top what was written here and has not come back. */
async function overlayAll({ log, projector }: Workspace, entities: readonly Held[]): Promise<Held[]> {
  const waiting = await log.get(entities.flatMap(({ projection }) => projection.overlay));
  const byId = new Map(waiting.map(({ event }) => [event.id, event]));
  return entities.map((held) => {
    const events = held.projection.overlay.map((id) => byId.get(id)).filter((event) => event !== undefined);
    return { ...held, projection: projector.overlay(held.projection, events) };
  });
}

function toEvent(pulled: PulledEvent): EntityEvent {
  const { id, entityId, type, data, author, deviceTime, sequence, baseVersion, hash } = pulled;
  return { id, entityId, type, data: data as EntityEvent["data"], author, deviceTime, sequence, baseVersion, hash };
}

function toReceipt(pulled: PulledEvent): Receipt {
  const { version, status, proposed, proposalId, assistedBy, deviceId, receivedAt } = pulled;
  return {
    version,
    status,
    deviceId,
    receivedAt,
    ...(proposed && { withheld: proposed }),
    ...(proposalId !== undefined && { proposalId }),
    ...(assistedBy && { assistedBy }),
  };
}

function toConfirmed(pulled: PulledEvent): ConfirmedEvent {
  return { event: toEvent(pulled), version: pulled.version, withheld: pulled.proposed ?? [] };
}
