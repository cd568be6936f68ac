import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { amina, useService } from "../../client/test/kit/service.ts";
import {
  type Append,
  type EntityStore,
  EventApplierService,
  type EventStore,
  type LogHead,
  type StoredEntity,
  type StoredEvent,
} from "../src/index.ts";
import { entityStoreConformance, eventStoreConformance } from "../src/testing/index.ts";
import { useDevices } from "./kit/field.ts";

/** The least a backend can be: one JSON text, as a file or a cloud's key-value store would hold. Nothing of ours is used. */
class TextEventStore implements EventStore {
  text = JSON.stringify({ events: [], heads: [], state: {} });
  async initialize() {}
  async close() {}
  async append({ events, head, replaces }: Append) {
    const all = this.#read();
    const last = all.heads.find(({ owner }) => owner === head.owner)?.sequence ?? 0;
    const isKnown = (id: string) => all.events.some((each) => each.owner === head.owner && each.id === id);
    if (events[0]?.sequence !== last + 1 || events.some(({ id }) => isKnown(id))) return false;
    const isReplaced = (each: StoredEvent) => each.owner === replaces && events.some(({ id }) => id === each.id);
    all.events = [...all.events.filter((each) => !isReplaced(each)), ...events];
    all.heads = [...all.heads.filter(({ owner }) => owner !== head.owner), head];
    this.#write(all);
    return true;
  }
  async add(events: readonly StoredEvent[]) {
    const all = this.#read();
    for (const event of events) {
      if (!all.events.some(({ owner, id }) => owner === event.owner && id === event.id)) all.events.push(event);
    }
    this.#write(all);
  }
  async settle(owner: string, settlements: Parameters<EventStore["settle"]>[1]) {
    const all = this.#read();
    all.events = all.events.map((event) => {
      const found = event.owner === owner && settlements.find(({ id }) => id === event.id);
      return found ? { ...event, status: found.status, receipt: found.receipt } : event;
    });
    this.#write(all);
  }
  async erase(owner: string, entityId: string) {
    const all = this.#read();
    const isMeant = (event: StoredEvent) => event.owner === owner && event.entityId === entityId;
    all.events = all.events.map((event) =>
      isMeant(event) ? { ...event, sealed: new Uint8Array(), receipt: null } : event,
    );
    this.#write(all);
  }
  async get(owner: string, ids: readonly string[]) {
    return this.#read().events.filter((event) => event.owner === owner && ids.includes(event.id));
  }
  async head(owner: string) {
    return this.#read().heads.find((head) => head.owner === owner) ?? null;
  }
  async log(owner: string, { status, after = 0, limit }: Parameters<EventStore["log"]>[1]) {
    return this.#logs(status, owner)
      .filter(({ sequence }) => (sequence as number) > after)
      .sort((a, b) => (a.sequence as number) - (b.sequence as number))
      .slice(0, limit);
  }
  async ofEntity(owner: string, entityId: string) {
    return this.#read().events.filter((event) => event.owner === owner && event.entityId === entityId);
  }
  async has(status: StoredEvent["status"], owner?: string) {
    return this.#logs(status, owner).length > 0;
  }
  async count(status: StoredEvent["status"], owner?: string) {
    return this.#logs(status, owner).length;
  }
  async getState(name: string) {
    return this.#read().state.find(([each]) => each === name)?.[1] ?? null;
  }
  async setState(name: string, value: string) {
    const all = this.#read();
    all.state = [...all.state.filter(([each]) => each !== name), [name, value]];
    this.#write(all);
  }
  #logs(status?: StoredEvent["status"], owner?: string): StoredEvent[] {
    return this.#read().events.filter(
      (event) =>
        event.sequence !== null &&
        (status === undefined || event.status === status) &&
        (owner === undefined || event.owner === owner),
    );
  }
  #read(): { events: StoredEvent[]; heads: LogHead[]; state: [string, string][] } {
    const all = JSON.parse(this.text, (_, value) => (value?.bytes ? new Uint8Array(value.bytes) : value));
    return { ...all, state: Object.values(all.state) };
  }
  #write(all: unknown) {
    this.text = JSON.stringify(all, (_, value) => (value instanceof Uint8Array ? { bytes: [...value] } : value));
  }
}

class ListEntityStore implements EntityStore {
  readonly #all: StoredEntity[] = [];
  async initialize() {}
  async close() {}
  async get(owner: string, ids: readonly string[]) {
    return structuredClone(this.#all.filter((each) => each.owner === owner && ids.includes(each.id)));
  }
  async put(entities: readonly StoredEntity[]) {
    return entities
      .filter((entity) => {
        const at = this.#all.findIndex(({ owner, id }) => owner === entity.owner && id === entity.id);
        if ((this.#all[at]?.revision ?? 0) + 1 !== entity.revision) return true;
        this.#all.splice(at === -1 ? this.#all.length : at, 1, structuredClone(entity));
        return false;
      })
      .map(({ id }) => id);
  }
  async page(owner: string, after: string | null, limit: number) {
    const own = this.#all.filter((each) => each.owner === owner && (after === null || each.id > after));
    return structuredClone(own.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit));
  }
  async remove(owner: string, ids: readonly string[]) {
    for (const id of ids) {
      const at = this.#all.findIndex((each) => each.owner === owner && each.id === id);
      if (at !== -1) this.#all.splice(at, 1);
    }
  }
}

describe("stores and event types that the library does not know", () => {
  const suites = [
    ...eventStoreConformance({ create: () => new TextEventStore(), shared: false }),
    ...entityStoreConformance({ create: () => new ListEntityStore(), shared: false }),
  ];
  for (const { name, run, skip } of suites) test.skipIf(skip !== undefined)(name, run);

  const service = useService();
  const device = useDevices(service);

  test("work with everything else", async () => {
    const appliers = () =>
      new EventApplierService()
        .register("open-case", (_, { data }) => ({ type: "case", data: { ...data, open: true }, members: [] }))
        .register("close-case", (entity) => entity && { ...entity, data: { ...entity.data, open: false } });
    const made = () => ({ events: new TextEventStore(), entities: new ListEntityStore(), appliers: appliers() });
    const [first, second] = [device(made()), device(made())];
    const { event } = await first.manager.submitForm({ type: "open-case", data: { about: "a lost card" } });
    await first.manager.login(amina);
    await first.manager.syncWithSyncServer();
    await second.manager.login(amina);
    await second.manager.syncWithSyncServer();
    await second.manager.submitForm({ type: "close-case", entityId: event.entityId, data: {} });
    await second.manager.syncWithSyncServer();
    await first.manager.syncWithSyncServer();
    const closed = { type: "case", version: 2, data: { about: "a lost card", open: false }, unconfirmed: false };
    expect(await first.manager.getEntity(event.entityId)).toMatchObject(closed);
    expect(await second.manager.getEntity(event.entityId)).toMatchObject(closed);
  });
});

test("the guide names what there is", async () => {
  const guide = await readFile(join(import.meta.dirname, "../../../docs/entity-data.md"), "utf8");
  const exported = await import("../src/index.ts");
  const methods = Object.getOwnPropertyNames(exported.EntityDataManager.prototype).filter(
    (name) => name !== "constructor",
  );
  for (const name of [...methods.filter((each) => each !== "close"), "HttpJsonAdapter", "ExternalSyncManager"]) {
    expect(guide, name).toContain(name);
  }
});
