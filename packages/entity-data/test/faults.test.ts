import type { SyncPullResponse } from "@fieldgate/contract";
import { describe, expect, test } from "vitest";
import { amina, useService } from "../../client/test/kit/service.ts";
import { goodPassword } from "../../server/test/kit/node.ts";
import { EventApplierService, type EventStore, InternalSyncManager } from "../src/index.ts";
import { MemoryEntityStore, MemoryEventStore } from "../src/stores/memory.ts";
import { person, quickSync, useDevices } from "./kit/field.ts";

const service = useService();
const device = useDevices(service);

/** How many times the service has each of these events, as another device sees it. */
async function copies(ids: readonly string[]): Promise<Map<string, number>> {
  const pulled = new Map(ids.map((id) => [id, 0]));
  const { auth } = service.manager();
  await auth.login(amina);
  for (let cursor = ""; ; ) {
    const query = new URLSearchParams({ ...(cursor && { cursor }), limit: "1000" });
    const response = await auth.fetch(`api/sync/pull?${query}`);
    const page = (await response.json()) as SyncPullResponse;
    for (const { id } of page.events) if (pulled.has(id)) pulled.set(id, (pulled.get(id) ?? 0) + 1);
    if (!page.more) return pulled;
    cursor = page.cursor;
  }
}

async function expectOnce(ids: readonly string[]): Promise<void> {
  const counts = await copies(ids);
  expect([...counts.values()].filter((count) => count !== 1)).toEqual([]);
}

const many = (count: number) => Array.from({ length: count }, (_, n) => person(`Person ${n}`));

describe("nothing is lost and nothing happens twice", () => {
  test("over a network that loses requests and answers, and where others answer", async () => {
    const internal = new InternalSyncManager({
      firstDelay: 1,
      longestDelay: 4,
      tries: 60,
      batchEvents: 25,
      pageSize: 40,
    });
    const { manager, network } = device({ internal });
    await manager.login(amina);
    const ids = (await manager.submitForms(many(400))).map(({ event }) => event.id);
    let requests = 0;
    network.fate = (path) => {
      if (!path.startsWith("/api/sync")) return "deliver";
      const fates = ["lose-request", "lose-answer", "portal", { status: 503, body: { code: "unavailable" } }] as const;
      return fates[requests++ % 7] ?? "deliver";
    };
    const { pushed, duplicates, rejected } = await manager.syncWithSyncServer();
    expect(requests).toBeGreaterThan(30);
    expect([pushed + duplicates, rejected]).toEqual([400, []]);
    expect(duplicates).toBeGreaterThan(0);
    expect(await manager.hasUnsyncedEvents()).toBe(false);
    network.comeBack();
    await expectOnce(ids);
  });

  test("when the network stays away: it says so, keeps everything, and goes on later", async () => {
    const { manager, network } = device({
      internal: new InternalSyncManager({ firstDelay: 1, tries: 3, batchEvents: 10 }),
    });
    await manager.login(amina);
    const ids = (await manager.submitForms(many(30))).map(({ event }) => event.id);
    let pushes = 0;
    network.fate = (path) => (path === "/api/sync/push" && ++pushes > 1 ? "lose-request" : "deliver");
    await expect(manager.syncWithSyncServer()).rejects.toMatchObject({ code: "unreachable" });
    expect(pushes).toBe(4);
    expect(await manager.getUnsyncedEventsCount()).toBe(20);
    network.comeBack();
    expect(await manager.syncWithSyncServer()).toMatchObject({ pushed: 20, duplicates: 0 });
    await expectOnce(ids);
  });

  test("when the network is too slow for a batch: smaller ones get through", async () => {
    const sizes: number[] = [];
    const slow: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      const { pathname, searchParams } = new URL(request.url);
      const size = pathname.endsWith("/push")
        ? ((await request.clone().json()) as { events: unknown[] }).events.length
        : Number(searchParams.get("limit") ?? 0);
      if (pathname.endsWith("/push")) sizes.push(size);
      if (size <= 10) return fetch(request);
      return new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason)));
    };
    const internal = new InternalSyncManager({ timeout: 1000, batchEvents: 40, pageSize: 20 });
    const { manager } = device({ fetch: slow, internal });
    await manager.login(amina);
    await manager.submitForms(many(60));
    const { pushed, duplicates } = await manager.syncWithSyncServer();
    expect(pushed + duplicates).toBe(60);
    expect(sizes.slice(0, 2)).toEqual([40, 20]);
    expect(Math.max(...sizes.slice(2))).toBe(10);
    expect(sizes.length).toBeGreaterThanOrEqual(8);
  });

  test("when a sync is aborted, and when somebody logs out in the middle of it", async () => {
    const { manager } = device({ internal: new InternalSyncManager({ batchEvents: 10 }) });
    await manager.login(amina);
    const ids = (await manager.submitForms(many(40))).map(({ event }) => event.id);
    const stop = new AbortController();
    const aborted = manager.syncWithSyncServer({
      signal: stop.signal,
      onProgress: ({ phase, done }) => phase === "push" && done === 10 && stop.abort(new Error("enough")),
    });
    await expect(aborted).rejects.toThrow("enough");
    expect(await manager.getUnsyncedEventsCount()).toBe(30);

    let leaving: Promise<unknown> | undefined;
    const left = manager.syncWithSyncServer({
      onProgress({ phase, done }) {
        if (phase === "push" && done === 10) leaving = manager.logout();
      },
    });
    await expect(left).rejects.toMatchObject({ code: "not_authenticated" });
    expect(await leaving).toEqual({ unsynced: 20 });
    await manager.login(amina);
    await manager.syncWithSyncServer();
    await expectOnce(ids);
  });

  test("when two tabs without locks send the same batch", async () => {
    const [events, entities] = [new MemoryEventStore(), new MemoryEntityStore()];
    const first = device({ events, entities });
    await first.manager.login(amina);
    const ids = (await first.manager.submitForms(many(120))).map(({ event }) => event.id);
    // A store that calls itself another device: the two do not wait for each other.
    const other: EventStore = Object.assign(Object.create(events), {
      getState: (name: string) => (name === "device-id" ? "another" : events.getState(name)),
    });
    for (const name of [
      "append",
      "add",
      "settle",
      "erase",
      "get",
      "head",
      "log",
      "ofEntity",
      "has",
      "count",
    ] as const) {
      Object.assign(other, { [name]: (events[name] as () => unknown).bind(events) });
    }
    Object.assign(other, { setState: events.setState.bind(events), initialize: async () => {}, close: async () => {} });
    const second = device({ events: other, entities, storage: first.storage });
    await second.auth.initialize();
    const sent = await Promise.all([first.manager.syncWithSyncServer(), second.manager.syncWithSyncServer()]);
    expect(sent[0].pushed + sent[1].pushed).toBe(120);
    expect(first.network.to("/api/sync/push").length).toBe(1);
    expect(second.network.to("/api/sync/push").length).toBe(1);
    await expectOnce(ids);
    expect((await first.manager.getAllEntities()).filter(({ unconfirmed }) => unconfirmed)).toEqual([]);
    expect((await first.manager.verifyEvents()).intact).toBe(true);
  });
});

describe("rejected events are kept with their reasons", () => {
  test("a form of 20 MB", async () => {
    const { manager } = device();
    await manager.login(amina);
    const photo = "x".repeat(20_000_000);
    const big = await manager.submitForm({ type: "create-individual", data: { names: { given: "Big" }, photo } });
    const { event } = await manager.submitForm(person("Small"));
    const { pushed, rejected } = await manager.syncWithSyncServer();
    expect([pushed, rejected.map(({ id, code }) => [id, code])]).toEqual([1, [[big.event.id, "event_too_large"]]]);
    expect(await manager.hasUnsyncedEvents()).toBe(false);
    const [kept] = await manager.getRejectedEvents();
    expect(kept).toMatchObject({ id: big.event.id, status: "rejected", receipt: { code: "event_too_large" } });
    expect(kept?.data.photo === photo).toBe(true);
    expect(await manager.getEntity(big.event.entityId)).toBeNull();
    expect(await manager.getEntity(event.entityId)).toMatchObject({ unconfirmed: false });
    expect(await manager.retryRejectedEvents()).toBe(1);
    expect((await manager.syncWithSyncServer()).rejected).toHaveLength(1);
  });

  test("an event that spoils its batch is found, and the others go through", async () => {
    const bad = crypto.randomUUID();
    // A service that is stricter than this client knows.
    const strict: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      const isPush = request.url.endsWith("/api/sync/push");
      if (!isPush || !(await request.clone().text()).includes(bad)) return fetch(request);
      return Response.json({ code: "invalid_request", detail: "events[4] is odd" }, { status: 400 });
    };
    const { manager } = device({ fetch: strict });
    await manager.login(amina);
    await manager.submitForms([...many(4), { ...person("Odd"), id: bad }, ...many(4)]);
    const { pushed, rejected } = await manager.syncWithSyncServer();
    expect(pushed).toBe(8);
    expect(rejected).toEqual([{ id: bad, code: "invalid_request", message: "events[4] is odd" }]);
    expect((await manager.getRejectedEvents()).map(({ id }) => id)).toEqual([bad]);
  });

  test("what the service itself rejects is no part of the entity any more", async () => {
    const { manager } = device();
    await manager.login(amina);
    const entityId = crypto.randomUUID();
    const fine = await manager.submitForm({ ...person("Njeri", { dateOfBirth: "1990-01-01" }), entityId });
    const bad = await manager.submitForm({ type: "update-individual", entityId, data: { phones: "not a list" } });
    expect(bad.entity?.data.phones).toBe("not a list");
    const { rejected, pushed } = await manager.syncWithSyncServer();
    expect(pushed).toBe(1);
    expect(rejected).toEqual([{ id: bad.event.id, code: "invalid_event", message: expect.stringMatching(/phones/) }]);
    const entity = await manager.getEntity(entityId);
    expect(entity).toMatchObject({ version: 1, unconfirmed: false, data: fine.entity?.data });
    const trail = await manager.getAuditTrail(entityId);
    expect(trail.map(({ status }) => status)).toEqual(["confirmed", "rejected"]);
  });

  test("an applier that throws keeps its event, sends it, and says why it changed nothing", async () => {
    const appliers = new EventApplierService().register("record-visit", () => {
      throw new Error("the road is flooded");
    });
    const { manager } = device({ appliers });
    await manager.login(amina);
    const { event } = await manager.submitForm(person("Halima"));
    const { entityId } = event;
    const visit = await manager.submitForm({ type: "record-visit", entityId, data: { at: "noon" } });
    expect(visit).toMatchObject({ problem: "the road is flooded", entity: { version: 2, data: event.data } });
    await manager.submitForm({ type: "update-individual", entityId, data: { language: "so" } });
    expect(await manager.syncWithSyncServer()).toMatchObject({ pushed: 3, rejected: [] });
    expect(await manager.getEntity(entityId)).toMatchObject({ version: 3, data: { ...event.data, language: "so" } });
    const trail = await manager.getAuditTrail(entityId);
    expect(trail.map(({ problem }) => problem)).toEqual([undefined, "the road is flooded", undefined]);

    // A device that knows what a visit is makes something of the same events; one that does not, keeps them until it does.
    const later = new EventApplierService();
    const other = device({ appliers: later });
    await other.manager.login(amina);
    await other.manager.syncWithSyncServer();
    expect(await other.manager.getEntity(entityId)).toMatchObject({ version: 3, data: { language: "so" } });
    later.register(
      "record-visit",
      (entity, { data }) => entity && { ...entity, data: { ...entity.data, visit: data } },
    );
    expect(await other.manager.getEntity(entityId)).toMatchObject({ version: 3, data: { visit: { at: "noon" } } });
  });
});

describe("entities on several devices", () => {
  test("edits that did not know of each other are both kept, and every device ends with the same", async () => {
    const [first, second] = [device(), device()];
    await Promise.all([first.manager.login(amina), second.manager.login(amina)]);
    const { event } = await first.manager.submitForm(person("Zuri", { dateOfBirth: "1980-05-05" }));
    const { entityId } = event;
    await first.manager.syncWithSyncServer();
    await second.manager.syncWithSyncServer();
    const update = (data: Record<string, string>) => ({ type: "update-individual", entityId, data });
    await first.manager.submitForm(update({ village: "Kitui", language: "sw" }));
    await second.manager.submitForm(update({ village: "Mwingi", note: "moved" }));
    await second.manager.submitForm(update({ note: "moved in May" }));
    await first.manager.syncWithSyncServer();
    await second.manager.syncWithSyncServer();
    await first.manager.syncWithSyncServer();
    const [here, there] = await Promise.all([first, second].map(({ manager }) => manager.getEntity(entityId)));
    expect(here).toEqual(there);
    expect(here).toMatchObject({ version: 4, data: { village: "Mwingi", language: "sw", note: "moved in May" } });
    const trail = await first.manager.getAuditTrail(entityId);
    expect(trail.map(({ receipt }) => receipt?.status)).toEqual(["applied", "applied", "conflicted", "applied"]);
    expect(trail.map(({ receipt }) => receipt?.version)).toEqual([1, 2, 3, 4]);
  });

  test("what is written during a pull stays on top of what comes", async () => {
    const [first, second] = [device(), device()];
    await Promise.all([first.manager.login(amina), second.manager.login(amina)]);
    const { event } = await first.manager.submitForm(person("Imani"));
    const { entityId } = event;
    await first.manager.syncWithSyncServer();
    const own = await second.manager.submitForm({ type: "update-individual", entityId, data: { note: "mine" } });
    expect(own.entity).toMatchObject({ version: 1, data: { note: "mine" } });
    const release = second.network.holdAnswers();
    const syncing = second.manager.syncWithSyncServer();
    await second.manager.submitForm({ type: "update-individual", entityId, data: { later: "yes" } });
    release();
    await syncing;
    await second.manager.syncWithSyncServer();
    expect(await second.manager.getEntity(entityId)).toMatchObject({
      version: 3,
      unconfirmed: false,
      data: { names: { given: "Imani" }, note: "mine", later: "yes" },
    });
  });

  test("groups have members", async () => {
    const { manager } = device();
    await manager.login(amina);
    const [group, one, two] = await manager.submitForms([
      { type: "create-group", data: { name: "Household 7" } },
      person("Mother"),
      person("Child"),
    ]);
    const entityId = group?.event.entityId as string;
    const add = (memberId = "") => ({ type: "add-member", entityId, data: { memberId } });
    await manager.submitForms([add(one?.event.entityId), add(two?.event.entityId)]);
    await manager.submitForm({ type: "remove-member", entityId, data: { memberId: one?.event.entityId as string } });
    await manager.syncWithSyncServer();
    const other = device();
    await other.manager.login(amina);
    await other.manager.syncWithSyncServer();
    expect((await other.manager.getMembers(entityId)).map(({ data }) => data)).toEqual([{ names: { given: "Child" } }]);
    expect(await other.manager.searchEntities({ type: "group", data: { name: "household 7" } })).toHaveLength(1);
    await other.manager.submitForm({ type: "delete-entity", entityId, data: {} });
    expect(await other.manager.getEntity(entityId)).toBeNull();
  });
});

describe("what only the service decides", () => {
  test("the deletion of somebody who can sign in waits for a supervisor, and they stay until then", async () => {
    const { manager } = device();
    await manager.login(amina);
    const data = { names: { given: "Subira" }, phones: ["+254712000333"] };
    const { event } = await manager.submitForm({ type: "create-individual", data });
    const { entityId } = event;
    await manager.syncWithSyncServer();
    await manager.submitForm({ type: "delete-entity", entityId, data: {} });
    expect(await manager.getEntity(entityId)).toBeNull();
    await manager.syncWithSyncServer();
    expect(await manager.getEntity(entityId)).toMatchObject({ unconfirmed: false, data });
    const trail = await manager.getAuditTrail(entityId);
    expect(trail.at(-1)?.receipt).toMatchObject({ status: "proposed", withheld: ["entity"] });
  });

  test("a changed phone number waits for a supervisor, and is no part of the entity meanwhile", async () => {
    const { manager } = device();
    await manager.login(amina);
    const { event } = await manager.submitForm({
      type: "create-individual",
      data: { names: { given: "Neema" }, dateOfBirth: "1991-02-03", phones: ["+254712000111"] },
    });
    const { entityId } = event;
    await manager.syncWithSyncServer();
    const data = { phones: ["+254712000222"], village: "Lamu" };
    const { entity } = await manager.submitForm({ type: "update-individual", entityId, data });
    expect(entity?.data).toMatchObject(data);
    await manager.syncWithSyncServer();
    const after = await manager.getEntity(entityId);
    expect(after).toMatchObject({ unconfirmed: false, data: { phones: ["+254712000111"], village: "Lamu" } });
    const trail = await manager.getAuditTrail(entityId);
    expect(trail.at(-1)?.receipt).toMatchObject({ status: "proposed", withheld: ["phones"] });
  });

  test("a person who must be forgotten is: events, entity, and what was not sent yet", async () => {
    const { manager, network, events } = device();
    await manager.login(amina);
    const [kept, gone] = await manager.submitForms([person("Kept"), person("Gone")]);
    await manager.syncWithSyncServer();
    const entityId = gone?.event.entityId as string;
    await manager.submitForm({ type: "update-individual", entityId, data: { note: "unsent" } });
    const erasure = {
      ...{ id: crypto.randomUUID(), entityId, type: "erase-entity", data: {}, sequence: 1, baseVersion: 0, version: 2 },
      ...{ deviceTime: new Date().toISOString(), receivedAt: new Date().toISOString(), deviceId: "", position: "9" },
      ...{ author: { userId: "u", username: "supervisor" }, status: "applied" },
    };
    network.fate = (path) => {
      if (path === "/api/sync/push") return { status: 200, body: { results: [{ id: unsent, status: "accepted" }] } };
      if (path !== "/api/sync/pull") return "deliver";
      return { status: 200, body: { events: [erasure], cursor: "later", more: false, epoch: "" } };
    };
    const unsent = (await manager.getAuditTrail(entityId)).at(-1)?.id;
    await manager.syncWithSyncServer();
    expect(await manager.getEntity(entityId)).toBeNull();
    expect(await manager.getAuditTrail(entityId)).toEqual([]);
    expect(await manager.hasUnsyncedEvents()).toBe(false);
    const owner = (await manager.getAuditTrail(kept?.event.entityId as string)).length;
    expect(owner).toBe(1);
    expect(await events.count("rejected")).toBe(1);
    expect(await manager.verifyEvents()).toMatchObject({ intact: true, checked: 3 });
  });
});

describe("a log tells when it was tampered with, and mends what was interrupted", () => {
  test("a changed, a missing and a cut-off event are found", async () => {
    const events = new MemoryEventStore();
    const { manager } = device({ events });
    await manager.login(amina);
    await manager.submitForms(many(5));
    expect(await manager.verifyEvents()).toEqual({ intact: true, checked: 5, findings: [] });
    const { log } = events;
    events.log = async (owner, query) => {
      const page = await log.call(events, owner, query);
      return page.filter(({ sequence }) => sequence !== 3 && sequence !== 5);
    };
    expect((await manager.verifyEvents()).findings).toEqual([
      { sequence: 3, problem: "missing" },
      { sequence: 5, problem: "missing" },
    ]);
    events.log = log;
    const { get } = events;
    events.get = async (owner, ids) => {
      const found = await get.call(events, owner, ids);
      return found.map((event) => (event.sequence === 2 ? { ...event, sealed: event.sealed.with(20, 0) } : event));
    };
    const { findings } = await manager.verifyEvents();
    expect(findings).toEqual([{ sequence: 2, problem: "changed" }]);
  });

  test("an event whose entity could not be stored is made up for at the next start", async () => {
    const [events, entities] = [new MemoryEventStore(), new MemoryEntityStore()];
    const first = device({ events, entities });
    await first.manager.login(amina);
    await first.manager.submitForms(many(3));
    const { put } = entities;
    entities.put = () => Promise.reject(new Error("disk full"));
    const form = { ...person("Late"), entityId: crypto.randomUUID() };
    await expect(first.manager.submitForm(form)).rejects.toThrow("disk full");
    entities.put = put;
    expect(await first.manager.getEntity(form.entityId)).toBeNull();
    const again = device({ events, entities, storage: first.storage });
    expect(await again.manager.getEntity(form.entityId)).toMatchObject({ data: form.data });
    expect(await again.manager.getUnsyncedEventsCount()).toBe(4);
  });

  test("the same submission twice is one event", async () => {
    const { manager } = device();
    const form = { ...person("Twice"), id: crypto.randomUUID(), entityId: crypto.randomUUID() };
    const [first] = await Promise.all([manager.submitForm(form), manager.submitForm(form)]);
    expect(await manager.submitForm(form)).toEqual(first);
    expect(await manager.getUnsyncedEventsCount()).toBe(1);
  });

  test("after the service was restored from a backup, everything is sent again", async () => {
    const { manager, network } = device();
    await manager.login(amina);
    const [one] = await manager.submitForms(many(3));
    await manager.syncWithSyncServer();
    let isRestored = false;
    network.fate = (path) => {
      if (path !== "/api/sync/pull" || isRestored) return "deliver";
      isRestored = true;
      return { status: 200, body: { events: [], cursor: "", more: false, epoch: "another" } };
    };
    const summary = await manager.syncWithSyncServer();
    expect(summary).toMatchObject({ pushed: 0, rejected: [] });
    expect(summary.duplicates).toBeGreaterThanOrEqual(3);
    expect(await manager.hasUnsyncedEvents()).toBe(false);
    expect(await manager.getEntity(one?.event.entityId as string)).toMatchObject({ version: 1, unconfirmed: false });
  });
});

test.each([
  [{ type: "Create Individual", data: {} }, "type"],
  [{ type: "x".repeat(65), data: {} }, "type"],
  [{ type: "create-individual", data: [] }, "data"],
  [{ type: "create-individual" }, "data"],
  [{ type: "create-individual", data: { big: 1n } }, "data"],
  [{ type: "create-individual", data: {}, entityId: "7" }, "entityId"],
  [{ type: "create-individual", data: {}, id: "7" }, "id"],
  [{ type: "create-individual", data: {}, baseVersion: -1 }, "baseVersion"],
  [null, "form"],
])("a form that is none is refused, and says which field is wrong: %o", async (form, field) => {
  const { manager } = device();
  await expect(manager.submitForm(form as never)).rejects.toMatchObject({ code: "invalid_event", field });
  expect(await manager.hasUnsyncedEvents()).toBe(false);
});

test("stores of another tenant than the sign-in's are refused at once", () => {
  const events = Object.assign(new MemoryEventStore(), { tenantId: "uganda" });
  expect(() => device({ events })).toThrow(/eventStore.*uganda.*demo/);
});

test("a person who signs in on a device gets their own entities alone", async () => {
  await service.node.addWorker({ username: "chidi" });
  const { manager } = device({ internal: quickSync() });
  await manager.login(amina);
  await manager.submitForm(person("Hers"));
  await manager.logout();
  await manager.login({ username: "chidi", password: goodPassword });
  expect(await manager.getAllEntities()).toEqual([]);
  expect(await manager.verifyEvents()).toEqual({ intact: true, checked: 0, findings: [] });
});
