import type { EntityEvent, Receipt } from "./events/event.ts";
import type { EventStatus } from "./events/event-store.ts";
import type { OpenedEvent } from "./workspace/event-log.ts";

/** One event of an entity's history, and what became of it. */
export interface AuditEntry extends EntityEvent {
  readonly status: EventStatus;
  /** What the service said; null as long as it said nothing. */
  readonly receipt: Receipt | null;
  /** Why it changed nothing here, where it did not. */
  readonly problem?: string;
}

/** In the order of the service; what has no place in it yet comes last, as it was written. */
export function toTrail({
  events,
  problems,
}: {
  readonly events: readonly OpenedEvent[];
  readonly problems: ReadonlyMap<string, string>;
}): AuditEntry[] {
  const rank = ({ receipt }: OpenedEvent) => receipt?.version ?? Infinity;
  const isBefore = (a: OpenedEvent, b: OpenedEvent) => {
    if (rank(a) !== rank(b)) return rank(a) < rank(b);
    return a.event.sequence < b.event.sequence;
  };
  return [...events]
    .sort((a, b) => (isBefore(a, b) ? -1 : 1))
    .map(({ event, status, receipt }) => {
      const problem = problems.get(event.id);
      return { ...event, status, receipt, ...(problem !== undefined && { problem }) };
    });
}
