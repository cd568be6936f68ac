import { type EventApplierService, unknownType } from "../applier/event-applier-service.ts";
import type { Entity, EntityContent } from "../entities/entity.ts";
import type { EntityEvent } from "../events/event.ts";
import type { OpenedEvent } from "./event-log.ts";

interface Snapshot extends EntityContent {
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** An event that changed nothing, and why. */
export interface Problem {
  readonly eventId: string;
  readonly type: string;
  readonly message: string;
}

/**
 * What events have made of an entity: first those that came from the service, in its order; on top of them those written here
 * that have not come back yet. When one comes back, or another device's comes between, the upper part is made anew.
 */
export interface Projection {
  readonly version: number;
  readonly confirmed: Snapshot | null;
  readonly current: Snapshot | null;
  /** The ids of the events on top. */
  readonly overlay: readonly string[];
  readonly problems: readonly Problem[];
  /** The last of the owner's own events that was taken into account. */
  readonly sequence: number;
}

export const emptyProjection: Projection = {
  version: 0,
  confirmed: null,
  current: null,
  overlay: [],
  problems: [],
  sequence: 0,
};

/** An event from the service, and what of it must not be applied. */
export interface ConfirmedEvent {
  readonly event: EntityEvent;
  readonly version: number;
  readonly withheld: readonly string[];
}

/** Types that only the service writes, and that tell of other events rather than of the entity. */
const silentTypes = new Set(["refuse-proposal"]);

export class Projector {
  readonly #appliers: EventApplierService;

  constructor(appliers: EventApplierService) {
    this.#appliers = appliers;
  }

  /** Takes in an event of the service. One that was taken in before changes nothing. */
  confirm(before: Projection, { event, version, withheld }: ConfirmedEvent): Projection {
    const overlay = before.overlay.filter((id) => id !== event.id);
    if (version <= before.version) return { ...before, overlay };
    // A deletion that waits leaves the entity as it is.
    if (event.type === "delete-entity" && withheld.length > 0) return { ...before, version, overlay };
    const data = Object.fromEntries(Object.entries(event.data).filter(([field]) => !withheld.includes(field)));
    const { snapshot, problems } = this.#fold(before.confirmed, { ...event, data }, without(before.problems, event.id));
    return { ...before, version, confirmed: snapshot, overlay, problems };
  }

  /** Makes the upper part anew, of these events. */
  overlay(before: Projection, events: readonly EntityEvent[]): Projection {
    const ids = events.map(({ id }) => id);
    const problems = before.problems.filter(({ eventId }) => !ids.includes(eventId));
    return events.reduce((projection, event) => this.write(projection, event), {
      ...before,
      current: before.confirmed,
      overlay: [],
      problems,
    } as Projection);
  }

  /** Puts one more event on top. */
  write(before: Projection, event: EntityEvent): Projection {
    const { snapshot, problems } = this.#fold(before.current, event, before.problems);
    const sequence = Math.max(before.sequence, event.sequence);
    return { ...before, current: snapshot, overlay: [...before.overlay, event.id], problems, sequence };
  }

  /** The projection of all events that there are. */
  rebuild(events: readonly OpenedEvent[]): Projection {
    let projection = emptyProjection;
    const confirmed = events.filter(({ status, receipt }) => status === "confirmed" && receipt?.version !== undefined);
    const versionOf = ({ receipt }: OpenedEvent) => receipt?.version as number;
    for (const each of confirmed.sort((a, b) => versionOf(a) - versionOf(b))) {
      const withheld = each.receipt?.withheld ?? [];
      projection = this.confirm(projection, { event: each.event, version: versionOf(each), withheld });
    }
    const own = events.filter(({ isOwn }) => isOwn);
    const written = own
      .filter(({ status }) => status === "pending" || status === "accepted")
      .map(({ event }) => event)
      .sort((a, b) => a.sequence - b.sequence);
    const sequence = Math.max(0, ...own.map(({ event }) => event.sequence));
    return { ...this.overlay(projection, written), sequence };
  }

  /** Whether an event was left out for want of an applier that there is by now. */
  isOutdated({ problems }: Projection): boolean {
    return problems.some(({ type, message }) => message === unknownType && this.#appliers.knows(type));
  }

  #fold(before: Snapshot | null, event: EntityEvent, problems: readonly Problem[]) {
    if (silentTypes.has(event.type)) return { snapshot: before, problems };
    const content = before && { type: before.type, data: before.data, members: before.members };
    const applied = this.#appliers.apply(content, event);
    const { id: eventId, type, deviceTime } = event;
    if (applied.problem !== undefined) {
      return { snapshot: before, problems: [...problems, { eventId, type, message: applied.problem }] };
    }
    const snapshot = applied.content && {
      ...applied.content,
      createdAt: before?.createdAt ?? deviceTime,
      updatedAt: deviceTime,
    };
    return { snapshot, problems };
  }
}

const without = (problems: readonly Problem[], id: string) => problems.filter(({ eventId }) => eventId !== id);

/** The version that the entity has here: what the service confirmed, and one more with each event on top. */
export const versionOf = ({ version, overlay }: Projection): number => version + overlay.length;

/** What an app sees; null where the entity is not, or no more. */
export function toEntity(id: string, projection: Projection): Entity | null {
  const { current, overlay } = projection;
  return current && { id, ...current, version: versionOf(projection), unconfirmed: overlay.length > 0 };
}
