import type { EntityContent } from "../entities/entity.ts";
import type { EntityEvent } from "../events/event.ts";

/**
 * What an event makes of an entity: pure, so that the same events make the same entity on every device. It gets null where the
 * entity is not known (yet, or any more), and gives null to remove it. One that throws leaves the entity as it is; the event is
 * kept with the reason.
 *
 * @example
 * const visit: EventApplier = (entity, event) => {
 *   if (!entity) throw new Error("Nobody was visited.");
 *   return { ...entity, data: { ...entity.data, lastVisit: event.deviceTime } };
 * };
 */
export type EventApplier = (entity: EntityContent | null, event: EntityEvent) => EntityContent | null;
