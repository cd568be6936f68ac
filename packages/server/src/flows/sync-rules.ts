import type { EventStatus, PushResult, SyncEvent } from "@fieldgate/contract";
import type { TenantCipher } from "../people/data-keys.ts";
import type { PersonInput } from "../people/person-columns.ts";
import type { EntityRow, EventRow } from "../store/sync-log.ts";
import type { SyncCaller } from "./sync-caller.ts";
import { isSameEvent, openEvent } from "./sync-content.ts";
import { isRejection, type ReadEvent, type Rejection, rejected } from "./sync-event.ts";
import type { PeoplePlan } from "./sync-people.ts";
import { isAboutPerson, type ProposedField } from "./sync-person.ts";

export interface Situation {
  readonly caller: SyncCaller;
  readonly cipher: TenantCipher;
  readonly events: readonly ReadEvent[];
  /** Events of the log that have the id of one of these. */
  readonly known: readonly EventRow[];
  readonly entities: readonly EntityRow[];
  /** What the events say of people. */
  readonly inputs: ReadonlyMap<SyncEvent, PersonInput | Rejection>;
  readonly people: PeoplePlan;
  readonly now: number;
}

/** An event that is taken, with the place it gets. */
export interface TakenEvent extends ReadEvent {
  readonly version: number;
  readonly status: EventStatus;
  readonly proposed: readonly ProposedField[];
}

export interface Decisions {
  /** One for each event, in their order. */
  readonly results: PushResult[];
  readonly taken: readonly TakenEvent[];
  /** Entities as they are after it. */
  readonly entities: readonly EntityRow[];
}

/** These change something that must be there. */
const needsEntity: ReadonlySet<string> = new Set([
  ...["update-individual", "update-group", "add-member", "remove-member", "delete-entity"],
]);

/** Decides what becomes of each event; they come in order, and each sees what those before it did. */
export async function decideEvents(situation: Situation): Promise<Decisions> {
  const { caller, cipher, events, inputs, people, now } = situation;
  const known = new Map(situation.known.map((row) => [row.id, row]));
  const entities = new Map(situation.entities.map((row) => [row.entity_id, row]));
  const touched = new Map<string, EntityRow>();
  const seen = new Map<string, ReadEvent>();
  const taken: TakenEvent[] = [];

  /** Null where no event has that id yet. */
  function repetition(read: ReadEvent): PushResult | null {
    const { id } = read.event;
    const before = seen.get(id);
    const row = known.get(id);
    if (!before && !row) return null;
    const content = row && openEvent(cipher, row);
    const same = before
      ? isSameEvent(before.event, read)
      : // Nobody can tell any more what an erased event said.
        !content || isSameEvent({ ...content, entityId: row?.entity_id ?? "" }, read);
    if (same) return { id, status: "duplicate" };
    const message = "Another event has this id already. Give each event an id of its own.";
    return rejected(id, { code: "id_conflict", message });
  }

  async function take(read: ReadEvent): Promise<Rejection | null> {
    const { event } = read;
    const { entityId, type } = event;
    const entity = entities.get(entityId);
    const refusal = refusalOf(caller, event, entity, people);
    if (refusal) return refusal;
    const input = inputs.get(event);
    let proposed: readonly ProposedField[] = [];
    if (input) {
      const fate = isRejection(input)
        ? input
        : await people.take({ entityId, input }, { known: entity !== undefined, deleted: !!entity?.deleted_at });
      if (isRejection(fate)) return fate;
      proposed = fate;
    }
    if (type === "delete-entity") {
      const fate = await people.remove(entityId);
      if (isRejection(fate)) return fate;
      proposed = fate;
    }
    const isDeleted = type === "delete-entity" && proposed.length === 0;

    const before = entity?.version ?? 0;
    const isOwnRun = entity?.device_id === caller.deviceId;
    const runStart = isOwnRun ? entity.run_start : before;
    // What its author did before on the same device, the author has seen.
    const conflicted = event.baseVersion < (isOwnRun ? runStart : before);
    const status = proposed.length > 0 ? "proposed" : conflicted ? "conflicted" : "applied";
    const after: EntityRow = {
      tenant_id: caller.tenantId,
      entity_id: entityId,
      version: before + 1,
      device_id: caller.deviceId,
      run_start: runStart,
      deleted_at: isDeleted ? now : (entity?.deleted_at ?? null),
      erased_at: null,
      merged_into: entity?.merged_into ?? null,
    };
    entities.set(entityId, after);
    touched.set(entityId, after);
    taken.push({ ...read, version: after.version, status, proposed });
    return null;
  }

  const results: PushResult[] = [];
  for (const read of events) {
    const { id } = read.event;
    const repeated = isOwn(caller, read.event) ? repetition(read) : null;
    const refusal = repeated ? null : await take(read);
    if (!repeated && !refusal) seen.set(id, read);
    results.push(repeated ?? (refusal ? rejected(id, refusal) : { id, status: "accepted" }));
  }
  return { results, taken, entities: [...touched.values()] };
}

const isOwn = ({ ownEntity }: SyncCaller, { entityId }: SyncEvent) => ownEntity === null || ownEntity === entityId;

function refusalOf(
  caller: SyncCaller,
  event: SyncEvent,
  entity: EntityRow | undefined,
  people: PeoplePlan,
): Rejection | null {
  const { entityId, type, data } = event;
  if (!isOwn(caller, event)) {
    return { code: "forbidden", message: "A citizen writes to their own entity alone." };
  }
  if (entity?.erased_at) {
    return { code: "entity_erased", message: "Everything that was kept of this entity was erased." };
  }
  if (entity?.merged_into && (isAboutPerson(type) || type === "delete-entity")) {
    const message = `This entity was merged into ${entity.merged_into}. Write to that one.`;
    return { code: "entity_merged", message };
  }
  if (needsEntity.has(type) && !entity && !people.has(entityId)) {
    return { code: "entity_not_found", message: "There is no such entity. Send the event that creates it first." };
  }
  if ((type === "add-member" || type === "remove-member") && !isMemberId(data)) {
    return { code: "invalid_event", message: "The field data.memberId must be the UUID of an entity." };
  }
  return null;
}

function isMemberId(data: SyncEvent["data"]): boolean {
  const { memberId } = data as { memberId?: unknown };
  return typeof memberId === "string" && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(memberId);
}
