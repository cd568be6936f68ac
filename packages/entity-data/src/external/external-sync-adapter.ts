import type { Entity } from "../entities/entity.ts";
import type { EntityEvent } from "../events/event.ts";

/** What is forwarded: an event, and the entity as it is now. */
export interface ExternalChange {
  readonly event: EntityEvent;
  readonly entity: Entity | null;
}

/** `failed` will not go better another time; what may, an adapter rejects with. */
export type ExternalResult =
  | { readonly id: string; readonly status: "sent" | "skipped" }
  | { readonly id: string; readonly status: "failed"; readonly message: string };

/**
 * Forwards events to another system, such as a programme's registry. Implement it for yours.
 *
 * - `send` may get the same event again, when an answer was lost: use the event's id to do it once.
 * - It gives a result for each change, or rejects: then the same changes come again at the next sync.
 */
export interface ExternalSyncAdapter {
  /** Names the system. What was forwarded is remembered by it. */
  readonly name: string;
  send(
    changes: readonly ExternalChange[],
    options: { readonly signal: AbortSignal },
  ): Promise<readonly ExternalResult[]>;
}
