import type { EventApplierService } from "../applier/event-applier-service.ts";
import type { Entity } from "../entities/entity.ts";
import type { EntityStore } from "../entities/entity-store.ts";
import type { Author, EntityEvent, Receipt } from "../events/event.ts";
import type { EventStatus, EventStore } from "../events/event-store.ts";
import type { Cipher } from "../vault/cipher.ts";
import { EntityProjections, type Held } from "./entity-projections.ts";
import { type Draft, EventLog, type OpenedEvent } from "./event-log.ts";
import { Projector, toEntity, versionOf } from "./projection.ts";

export interface WorkspaceParts {
  readonly events: EventStore;
  readonly entities: EntityStore;
  readonly appliers: EventApplierService;
}

/** What became of a form. */
export interface Submission {
  readonly event: EntityEvent;
  /** The entity after it; null where there is none. */
  readonly entity: Entity | null;
  /** Why the event changed nothing here. It is kept, and sent all the same. */
  readonly problem?: string;
}

export interface Outcome {
  readonly id: string;
  readonly entityId: string;
  readonly status: EventStatus;
  readonly receipt: Receipt | null;
}

/** Events of one transaction: small enough for a phone, large enough for an import. */
const chunkSize = 200;

/** What one owner has on this device: their events, and what these have made of entities. */
export class Workspace {
  readonly owner: string;
  readonly log: EventLog;
  readonly entities: EntityProjections;
  readonly projector: Projector;
  readonly #events: EventStore;

  constructor({ events, entities, appliers }: WorkspaceParts, cipher: Cipher) {
    this.owner = cipher.owner;
    this.#events = events;
    this.log = new EventLog(events, cipher);
    this.entities = new EntityProjections(entities, cipher);
    this.projector = new Projector(appliers);
  }

  /**
   * Stores forms as events at the end of the log, and what they make of their entities. The events count as soon as they are
   * stored; if the rest is interrupted, `recover` makes up for it.
   */
  async write(drafts: readonly Draft[], author: Author | null, replaces?: string): Promise<Submission[]> {
    const submissions: Submission[] = [];
    for (let at = 0; at < drafts.length; at += chunkSize) {
      submissions.push(...(await this.#writeChunk(drafts.slice(at, at + chunkSize), author, replaces)));
    }
    return submissions;
  }

  async #writeChunk(drafts: readonly Draft[], author: Author | null, replaces?: string): Promise<Submission[]> {
    for (let attempt = 0; attempt < 100; attempt++) {
      const held = await this.entities.get(drafts.map(({ entityId }) => entityId));
      const events = await this.log.chain(await this.log.end(), drafts, author, ({ entityId }) => {
        const { projection, ...record } = held.get(entityId) as Held;
        const write = (event: EntityEvent) =>
          void held.set(entityId, { ...record, projection: this.projector.write(projection, event) });
        return { version: versionOf(projection), write };
      });
      if (await this.log.append(events, replaces)) {
        const outdated = await this.entities.put(held.values());
        for (const [id, rebuilt] of await this.rebuild(outdated)) held.set(id, rebuilt);
        return events.map(({ previous: _, ...event }) => toSubmission(event, held));
      }
      // Either another tab was faster, or these forms were submitted before: then they are kept as they are.
      const known = await this.log.get(drafts.map(({ id }) => id));
      if (known.length === 0) continue;
      const fresh = drafts.filter(({ id }) => !known.some(({ event }) => event.id === id));
      const rest = fresh.length > 0 ? await this.#writeChunk(fresh, author, replaces) : [];
      const now = await this.entities.get(known.map(({ event }) => event.entityId));
      const all = [...rest, ...known.map(({ event }) => toSubmission(event, now))];
      return drafts.map(({ id }) => all.find(({ event }) => event.id === id) as Submission);
    }
    throw new Error("The event store refuses every append: it does not keep to the head it gives.");
  }

  /** Makes entities anew from all their events. */
  async rebuild(ids: Iterable<string>): Promise<Map<string, Held>> {
    const rebuilt = new Map<string, Held>();
    for (let left = [...new Set(ids)]; left.length > 0; ) {
      const held = await this.entities.get(left);
      for (const [id, { revision }] of held) {
        const projection = this.projector.rebuild(await this.log.ofEntity(id));
        rebuilt.set(id, { id, revision: revision + 1, projection });
        held.set(id, { id, revision, projection });
      }
      left = await this.entities.put(held.values());
    }
    return rebuilt;
  }

  /** Finds events at the end of the log whose entities do not know of them: something was interrupted. */
  async recover(): Promise<void> {
    const stale = new Set<string>();
    let { sequence } = await this.log.end();
    for (let isStale = true; isStale && sequence > 0; sequence -= chunkSize) {
      const page = await this.log.read({ after: Math.max(0, sequence - chunkSize), limit: chunkSize });
      const held = await this.entities.get(page.map(({ event }) => event.entityId));
      const missing = page.filter(({ event }) => {
        const { projection } = held.get(event.entityId) as Held;
        return projection.sequence < event.sequence;
      });
      for (const { event } of missing) stale.add(event.entityId);
      isStale = missing.length > 0;
    }
    await this.rebuild(stale);
  }

  /** Notes what became of own events. A rejected one is no longer part of its entity. */
  async settle(outcomes: readonly Outcome[]): Promise<void> {
    await this.log.settle(outcomes);
    const changed = outcomes.filter(({ status }) => status === "rejected" || status === "pending");
    await this.rebuild(changed.map(({ entityId }) => entityId));
  }

  /** Drops everything that is known of an entity. */
  async erase(entityId: string): Promise<void> {
    const events = await this.#events.ofEntity(this.owner, entityId);
    await this.#events.erase(this.owner, entityId);
    await this.entities.remove([entityId]);
    // What is empty cannot be sent.
    const waiting = events.filter(({ status }) => status === "pending" || status === "accepted");
    await this.log.settle(waiting.map(({ id }) => ({ id, status: "rejected", receipt: null })));
  }

  async entity(id: string): Promise<Entity | null> {
    const [held] = (await this.entities.get([id])).values();
    return held ? this.#toEntity(held) : null;
  }

  /** Every entity, in pages: never more of them in memory than one. */
  async *all(pageSize = 500): AsyncGenerator<Entity> {
    for (let after: string | null = null; ; ) {
      const page: Held[] = await this.entities.page(after, pageSize);
      for (const held of page) {
        const entity = await this.#toEntity(held);
        if (entity) yield entity;
      }
      if (page.length < pageSize) return;
      after = page.at(-1)?.id ?? null;
    }
  }

  async trail(entityId: string): Promise<{ events: OpenedEvent[]; problems: ReadonlyMap<string, string> }> {
    const [events, held] = await Promise.all([this.log.ofEntity(entityId), this.entities.get([entityId])]);
    const problems = held.get(entityId)?.projection.problems ?? [];
    return { events, problems: new Map(problems.map(({ eventId, message }) => [eventId, message])) };
  }

  async #toEntity(held: Held): Promise<Entity | null> {
    if (!this.projector.isOutdated(held.projection)) return toEntity(held.id, held.projection);
    const rebuilt = await this.rebuild([held.id]);
    return toEntity(held.id, (rebuilt.get(held.id) ?? held).projection);
  }
}

function toSubmission(event: EntityEvent, held: ReadonlyMap<string, Held>): Submission {
  const { projection } = held.get(event.entityId) as Held;
  const problem = projection.problems.find(({ eventId }) => eventId === event.id)?.message;
  return { event, entity: toEntity(event.entityId, projection), ...(problem !== undefined && { problem }) };
}
