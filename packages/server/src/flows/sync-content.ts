import { isDeepStrictEqual } from "node:util";
import type { EventStatus, PulledEvent, SyncEvent } from "@fieldgate/contract";
import type { Insertable } from "kysely";
import type { TenantCipher } from "../people/data-keys.ts";
import type { SyncEventTable } from "../store/schema.ts";
import { type EventRow, eventPlace } from "../store/sync-log.ts";
import type { ReadEvent } from "./sync-event.ts";

export interface Author {
  readonly userId: string;
  readonly username: string;
}

/** What is kept sealed of an event. Author, device and status are the server's own words. */
export interface EventContent extends Omit<SyncEvent, "id" | "entityId"> {
  readonly status: EventStatus;
  readonly author: Author;
  /** The worker who helped the author to sign in. */
  readonly assistedBy?: Author;
  readonly deviceId: string;
  /** What the device calls itself; nobody relies on it. */
  readonly claimedDevice: string;
  /** Names of the fields of `data` that wait for a supervisor. */
  readonly proposed?: readonly string[];
  readonly proposalId?: string;
}

export interface NewEvent extends Omit<EventContent, "data"> {
  readonly id: string;
  readonly entityId: string;
  readonly version: number;
  readonly position: number;
  readonly receivedAt: number;
  /** `data` as JSON. */
  readonly dataText: string;
}

/** Seals what does not depend on the place that an event gets. */
export function sealEvent(cipher: TenantCipher, event: Omit<NewEvent, "version" | "position" | "receivedAt">): string {
  const { id, entityId, dataText, ...content } = event;
  // The text of the data is there already: to write it once more would cost as much as all the rest.
  const text = `${JSON.stringify(content).slice(0, -1)},"data":${dataText}}`;
  return cipher.seal(eventPlace(entityId, id), text);
}

/** @param sealed What `sealEvent` made of it, where that was done before. */
export function eventRow(cipher: TenantCipher, event: NewEvent, sealed?: string): Insertable<SyncEventTable> {
  const { version, position, receivedAt, ...content } = event;
  const text = sealed ?? sealEvent(cipher, content);
  const { id, entityId } = event;
  return {
    tenant_id: cipher.tenantId,
    position,
    id,
    entity_id: entityId,
    version,
    received_at: receivedAt,
    size: text.length,
    sealed_event: text,
  };
}

/** The content of an event; null where it was erased. */
export function openEvent(
  cipher: TenantCipher,
  row: Pick<EventRow, "id" | "entity_id" | "sealed_event">,
): EventContent | null {
  if (row.sealed_event === null) return null;
  return JSON.parse(cipher.open(eventPlace(row.entity_id, row.id), row.sealed_event)) as EventContent;
}

export function toPulledEvent(row: EventRow, content: EventContent): PulledEvent {
  const { claimedDevice: _claimed, proposed, ...rest } = content;
  return {
    ...rest,
    id: row.id,
    entityId: row.entity_id,
    version: row.version,
    receivedAt: new Date(row.received_at).toISOString(),
    position: String(row.position),
    ...(proposed && { proposed: [...proposed] }),
  };
}

/** Everyone else, to a citizen: a worker's name and devices are not theirs to know. */
const programme: Author = { userId: "", username: "programme" };

/** An event as the citizen whom it is about gets it. */
export function toCitizensEvent(row: EventRow, content: EventContent): PulledEvent {
  const event = toPulledEvent(row, content);
  const isOwn = event.author.userId === row.entity_id;
  return {
    ...event,
    ...(!isOwn && { author: { ...programme }, deviceId: "" }),
    ...(event.assistedBy && { assistedBy: { ...programme } }),
  };
}

/** Whether two events with the same id are the same event; compared as they are kept. */
export function isSameEvent(known: Omit<SyncEvent, "id">, { event, dataText }: ReadEvent): boolean {
  return isDeepStrictEqual(words(known), words({ ...event, data: JSON.parse(dataText) as SyncEvent["data"] }));
}

const words = ({ entityId, type, data, deviceTime, sequence, baseVersion, hash }: Omit<SyncEvent, "id">) => [
  ...[entityId, type, data, deviceTime, sequence, baseVersion, hash],
];
