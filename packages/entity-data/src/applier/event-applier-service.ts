import type { EntityContent } from "../entities/entity.ts";
import { EntityDataError } from "../errors.ts";
import type { EntityEvent } from "../events/event.ts";
import type { EventApplier } from "./applier.ts";
import { builtInAppliers } from "./built-in.ts";

/** What became of an entity. `problem` says why an event changed nothing. */
export interface Applied {
  readonly content: EntityContent | null;
  readonly problem?: string;
}

/**
 * Knows what each type of event makes of an entity. Events of a type that nobody registered are kept, and applied as soon as
 * somebody does.
 *
 * @example
 * const appliers = new EventApplierService();
 * appliers.register("record-visit", (entity, event) => entity && { ...entity, data: { ...entity.data, visit: event.data } });
 */
export class EventApplierService {
  readonly #appliers = new Map<string, EventApplier>(Object.entries(builtInAppliers));

  /** Adds a type. One that exists cannot be replaced: other devices would make something else of the same events. */
  register(type: string, applier: EventApplier): this {
    if (this.#appliers.has(type)) {
      throw new EntityDataError("invalid_event", `The type "${type}" is registered already.`, { field: "type" });
    }
    if (typeof applier !== "function") {
      throw new EntityDataError("invalid_event", `The applier of "${type}" is no function.`, { field: "applier" });
    }
    this.#appliers.set(type, applier);
    return this;
  }

  knows(type: string): boolean {
    return this.#appliers.has(type);
  }

  /** Never throws: what an applier throws is the `problem`. */
  apply(before: EntityContent | null, event: EntityEvent): Applied {
    const applier = this.#appliers.get(event.type);
    if (!applier) return { content: before, problem: unknownType };
    try {
      // Copies, so that an applier which is not pure after all cannot change what is stored.
      return { content: checkContent(applier(structuredClone(before), structuredClone(event))) };
    } catch (error) {
      return { content: before, problem: (error as Error)?.message || String(error) };
    }
  }
}

export const unknownType = "No applier is registered for this type.";

function checkContent(content: EntityContent | null): EntityContent | null {
  if (content === null) return null;
  const { type, data, members = [] } = content;
  if (typeof type !== "string" || typeof data !== "object" || data === null || !Array.isArray(members)) {
    throw new Error("The applier gave no entity: { type, data, members } or null.");
  }
  return { type, data, members };
}
