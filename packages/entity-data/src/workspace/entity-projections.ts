import type { EntityStore } from "../entities/entity-store.ts";
import type { Cipher } from "../vault/cipher.ts";
import { emptyProjection, type Projection } from "./projection.ts";

/** A projection and the revision of the record it was read from; 0 where there is none. */
export interface Held {
  readonly id: string;
  readonly revision: number;
  readonly projection: Projection;
}

/** What is stored: the two parts are one where nothing lies on top. */
type Sealed = Omit<Projection, "current"> & Partial<Pick<Projection, "current">>;

/** One owner's entities: sealed in the store, and opened again. */
export class EntityProjections {
  readonly #store: EntityStore;
  readonly #cipher: Cipher;

  constructor(store: EntityStore, cipher: Cipher) {
    this.#store = store;
    this.#cipher = cipher;
  }

  /** All that were asked for; empty ones for those that are not there. */
  async get(ids: Iterable<string>): Promise<Map<string, Held>> {
    const wanted = [...new Set(ids)];
    const found = await this.#openAll(await this.#store.get(this.#cipher.owner, wanted));
    const held = new Map(found.map((each) => [each.id, each]));
    for (const id of wanted) if (!held.has(id)) held.set(id, { id, revision: 0, projection: emptyProjection });
    return held;
  }

  async page(after: string | null, limit: number): Promise<Held[]> {
    return this.#openAll(await this.#store.page(this.#cipher.owner, after, limit));
  }

  /** Stores the next revision of each; gives the ids of those that somebody else has changed meanwhile. */
  async put(entities: Iterable<Held>): Promise<string[]> {
    const { owner } = this.#cipher;
    const records = [...entities].map(async ({ id, revision, projection }) => {
      const { current, ...rest } = projection;
      const sealed = await this.#cipher.seal(`entity ${id}`, rest.overlay.length > 0 ? projection : rest);
      return { owner, id, revision: revision + 1, sealed };
    });
    return records.length === 0 ? [] : this.#store.put(await Promise.all(records));
  }

  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#store.remove(this.#cipher.owner, ids);
  }

  #openAll(records: Awaited<ReturnType<EntityStore["get"]>>): Promise<Held[]> {
    return Promise.all(
      records.map(async ({ id, revision, sealed }) => {
        const stored = await this.#cipher.open<Sealed>(`entity ${id}`, sealed);
        return { id, revision, projection: { ...stored, current: stored.current ?? overlaid(stored) } };
      }),
    );
  }
}

const overlaid = ({ overlay, confirmed }: Sealed) => (overlay.length > 0 ? null : confirmed);
