import { randomUUID } from "node:crypto";
import { maxEventBytes, routes, type SyncEvent } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databases } from "../kit/databases.ts";
import { startNode, type TestNode } from "../kit/node.ts";
import { Device, person } from "./device.ts";

describe.each(databases)("events on $name", ({ fresh }) => {
  let node: TestNode;
  let other: TestNode;
  let drop: () => Promise<void>;
  let device: Device;

  beforeAll(async () => {
    const database = await fresh();
    drop = database.drop;
    node = await startNode({ database: database.config });
    const { baseUrl, audience } = node.config;
    other = await startNode({ database: database.config, config: { baseUrl, audience } });
    for (const tenant of ["demo", "neighbour", "empty", "pages"]) {
      await node.addTenant(tenant, { defaultCountry: "KE" });
      await node.addWorker({ username: "amina", tenantId: tenant });
    }
    await node.addWorker({ username: "juma" });
    device = await Device.ofWorker(node, "amina");
  });
  afterAll(async () => {
    await node?.close();
    await other?.close();
    await drop?.();
  });

  const isOf = (entityId: string) => (event: { entityId: string }) => event.entityId === entityId;

  test("are taken once, and come back as they were with what the server knows of them", async () => {
    const sent = device.event("create-individual", person("Zawadi", { village: "Kilifi", age: 7, tags: [null, 1.5] }), {
      hash: "c2hh",
      deviceTime: "2026-01-31T09:30:00.000Z",
    });
    const before = Date.now();
    expect(await device.push(sent)).toEqual([{ id: sent.id, status: "accepted" }]);
    expect(await device.push(sent)).toEqual([{ id: sent.id, status: "duplicate" }]);
    const { events } = await device.pull();
    const [own, ...more] = events.filter(isOf(sent.entityId));
    expect(more).toEqual([]);
    const me = (await node.api.me(device.token)).body;
    expect(own).toEqual({
      ...sent,
      version: 1,
      status: "applied",
      author: { userId: me.userId, username: "amina" },
      deviceId: expect.stringMatching(/^[\w-]{22}$/),
      receivedAt: expect.any(String),
      position: expect.stringMatching(/^\d+$/),
    });
    expect(Math.abs(Date.parse(own?.receivedAt ?? "") - before)).toBeLessThan(60_000);
  });

  test("a clock that is two days wrong changes nothing but what the event says of itself", async () => {
    const wrong = new Date(Date.now() + 2 * 86_400_000).toISOString();
    const late = device.event("household-visit", { note: "late" }, { deviceTime: wrong });
    const next = device.event("household-visit", { note: "next" });
    await device.pushAll(late, next);
    const events = (await device.pull()).events.filter(({ id }) => id === late.id || id === next.id);
    expect(events.map(({ id, deviceTime }) => [id, deviceTime])).toEqual([
      [late.id, wrong],
      [next.id, next.deviceTime],
    ]);
    expect(Math.abs(Date.parse(events[0]?.receivedAt ?? "") - Date.now())).toBeLessThan(60_000);
  });

  test("what a client claims of author, time and status is refused, not believed", async () => {
    const forged = { ...device.event("household-visit", {}), author: { userId: "x", username: "boss" } };
    expect(await device.push(forged)).toMatchObject([{ status: "rejected", code: "invalid_event" }]);
    const inData = device.event("household-visit", { author: "boss", status: "applied" });
    await device.pushAll(inData);
    const [event] = (await device.pull()).events.filter(({ id }) => id === inData.id);
    expect(event?.author.username).toBe("amina");
  });

  test("one id with two contents: the first stays, the second is told so", async () => {
    const event = device.event("household-visit", { rooms: 2 });
    expect(await device.push(event, { ...event, data: { rooms: 3 } }, event)).toEqual([
      { id: event.id, status: "accepted" },
      { id: event.id, status: "rejected", code: "id_conflict", message: expect.any(String) },
      { id: event.id, status: "duplicate" },
    ]);
    for (const changed of [{ data: { rooms: 3 } }, { entityId: randomUUID() }, { sequence: 99 }, { baseVersion: 7 }]) {
      expect(await device.push({ ...event, ...changed })).toMatchObject([{ code: "id_conflict" }]);
    }
    expect(await device.push({ ...event, data: { rooms: 2 } })).toMatchObject([{ status: "duplicate" }]);
  });

  test("a bad event spoils no other, and each is told what is wrong with it", async () => {
    const good = device.event("household-visit", { note: "good" });
    const deep = JSON.parse(`${'{"a":'.repeat(40)}1${"}".repeat(40)}`) as SyncEvent["data"];
    const bad: [Record<string, unknown>, string, RegExp][] = [
      [{ type: "Household Visit" }, "invalid_event", /type/],
      [{ type: "" }, "invalid_event", /type/],
      [{ data: [] }, "invalid_event", /data/],
      [{ data: "text" }, "invalid_event", /data/],
      [{ data: deep }, "invalid_event", /nested/],
      [{ data: { note: "a\0b" } }, "invalid_event", /data\.note/],
      [{ data: { note: "\ud800" } }, "invalid_event", /data\.note/],
      [{ data: { constructor: 1 } }, "invalid_event", /data\.constructor/],
      [{ data: JSON.parse('{"__proto__":{"admin":true}}') }, "invalid_event", /__proto__/],
      [{ data: { text: "x".repeat(maxEventBytes) } }, "event_too_large", /256 KiB/],
      [{ deviceTime: "yesterday" }, "invalid_event", /deviceTime/],
      [{ deviceTime: 1 }, "invalid_event", /deviceTime/],
      [{ sequence: 0 }, "invalid_event", /sequence/],
      [{ sequence: "1" }, "invalid_event", /sequence/],
      [{ baseVersion: -1 }, "invalid_event", /baseVersion/],
      [{ baseVersion: 1.5 }, "invalid_event", /baseVersion/],
      [{ entityId: "me" }, "invalid_event", /entityId/],
      [{ hash: "not base64url!" }, "invalid_event", /hash/],
      [{ position: "1" }, "invalid_event", /not known/],
      [{ type: "erase-entity" }, "invalid_event", /server alone/],
      [{ type: "update-individual", data: {} }, "entity_not_found", /no such entity/],
      [{ type: "add-member", data: {}, entityId: good.entityId }, "invalid_event", /memberId/],
      [{ type: "create-individual", data: person("A", { phones: ["call me"] }) }, "invalid_event", /data\.phones\[0\]/],
      [{ type: "create-individual", data: person("A", { dateOfBirth: "2999" }) }, "invalid_event", /dateOfBirth/],
      [{ type: "create-individual", data: { names: "A" } }, "invalid_event", /data\.names/],
      [{ type: "create-individual", data: { phones: ["0712000900"] } }, "invalid_event", /names\.given/],
    ];
    const events = bad.map(([wrong]) => ({ ...device.event("household-visit", {}), ...wrong }));
    const results = await device.push(good, ...events);
    expect(results[0]).toEqual({ id: good.id, status: "accepted" });
    for (const [index, [, code, words]] of bad.entries()) {
      const result = results[index + 1];
      expect(result, words.source).toMatchObject({ id: events[index]?.id, status: "rejected", code });
      expect(result?.message).toMatch(words);
    }
    expect((await device.pull()).events.filter(({ id }) => events.some((event) => event.id === id))).toEqual([]);
  });

  test("a field that is there twice costs its own event alone", async () => {
    const [first, second] = [device.event("household-visit", {}), device.event("household-visit", {})];
    const text = JSON.stringify({ deviceId: "d", events: [first, second] }).replace(
      '"data":{}',
      '"data":{"a":1,"a":2}',
    );
    const response = await fetch(`${node.url}${routes.syncPush.path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${device.token}` },
      body: text,
    });
    expect(await response.json()).toMatchObject({
      results: [
        { id: first.id, status: "rejected", code: "invalid_event" },
        { id: second.id, status: "accepted" },
      ],
    });
  });

  test("a body that is no batch is a 400 that names the field, and one that is too large a 413", async () => {
    const event = device.event("household-visit", {});
    for (const [body, field] of [
      [{}, "deviceId"],
      [{ deviceId: "d" }, "events"],
      [{ deviceId: "d", events: [] }, "events"],
      [{ deviceId: "d", events: [event], tenantId: "demo" }, "tenantId"],
      [{ deviceId: 1, events: [event] }, "deviceId"],
      [{ deviceId: "d", events: {} }, "events"],
      [{ deviceId: "d", events: [null] }, "events[0]"],
      [{ deviceId: "d", events: [event, {}] }, "events[1].id"],
      [{ deviceId: "d", events: [{ ...event, id: "1" }] }, "events[0].id"],
      [{ deviceId: "d", events: Array.from({ length: 501 }, () => event) }, "events"],
    ] as const) {
      const answer = await device.send(body);
      expect([answer.status, answer.body.field], answer.text).toEqual([400, field]);
    }
    const large = Array.from({ length: 6 }, () => device.event("photo", { text: "x".repeat(200_000) }));
    expect((await device.send({ deviceId: "d", events: large })).body.code).toBe("payload_too_large");
    expect(await device.push(...large.slice(0, 5))).toHaveLength(5);
    const answer = await node.api.login({ username: "x".repeat(20_000), password: "y" });
    expect(answer.body.code).toBe("payload_too_large");
  });

  test("nobody without a token of this service exchanges anything", async () => {
    for (const token of ["nonsense", ""]) {
      const stranger = new Device(node.api, token);
      expect((await stranger.send({ deviceId: "d", events: [device.event("x", {})] })).status).toBe(401);
      expect((await stranger.fetch()).status).toBe(401);
    }
  });

  test("another tenant sees nothing of them, and its ids mean nothing here", async () => {
    const neighbour = await Device.ofWorker(node, "amina", "neighbour");
    const created = device.event("create-individual", person("Halima", { phones: ["0712000801"] }));
    await device.pushAll(created);
    expect((await neighbour.pull()).events).toEqual([]);
    const { entityId } = created;
    expect(
      await neighbour.push(
        neighbour.event("update-individual", { phones: ["0712000802"] }, { entityId }),
        neighbour.event("delete-entity", {}, { entityId }),
        neighbour.event("create-individual", person("Thief", { phones: ["0712000803"] }), { entityId }),
        neighbour.event("household-visit", { note: "theirs" }, { id: created.id }),
      ),
    ).toMatchObject([
      { code: "entity_not_found" },
      { code: "entity_not_found" },
      { code: "forbidden" },
      // An id is one tenant's own.
      { status: "accepted" },
    ]);
    const own = (await device.pull()).events.filter(isOf(entityId));
    expect(own).toMatchObject([{ id: created.id, data: created.data, version: 1 }]);
  });

  test("a cursor of another log begins this one anew; what is none is a 400", async () => {
    const neighbour = await Device.ofWorker(node, "amina", "neighbour");
    const { cursor } = await device.pull();
    const theirs = (await neighbour.pull()).events;
    expect((await neighbour.pull(cursor)).events).toEqual(theirs);
    for (const query of [
      "?cursor=x",
      "?cursor=AAAAAAAAAAAA.-1",
      "?cursor=1.1",
      "?cursor=%27",
      "?limit=0",
      "?limit=x",
    ]) {
      expect((await device.fetch(query)).body.code, query).toBe("invalid_request");
    }
    for (const query of ["?limit=1001", "?since=1", "?limit=1&limit=2"]) {
      expect((await device.fetch(query)).body.code, query).toBe("invalid_request");
    }
    expect((await device.fetch(`?cursor=AAAAAAAAAAAA.${"9".repeat(15)}`)).status).toBe(200);
  });

  test("before the first event there is an empty page, whose cursor is the beginning", async () => {
    const nobody = await Device.ofWorker(node, "amina", "empty");
    const { body } = await nobody.fetch();
    expect(body).toEqual({ events: [], cursor: "", more: false, epoch: "" });
    const event = nobody.event("household-visit", {});
    await nobody.pushAll(event);
    const page = await nobody.pull(body.cursor);
    expect(page.events.map(({ id }) => id)).toEqual([event.id]);
    expect((await nobody.pull(page.cursor)).events).toEqual([]);
  });

  test("pages follow each other without gap or overlap, and large events make short pages", async () => {
    const writer = await Device.ofWorker(node, "amina", "pages");
    const events = Array.from({ length: 30 }, (_, index) => writer.event("form", { index, text: "x".repeat(20_000) }));
    await writer.pushAll(...events);
    const large = Array.from({ length: 8 }, () => writer.event("form", { text: "x".repeat(240_000) }));
    for (const event of large) await writer.pushAll(event);
    const all = [...events, ...large].map(({ id }) => id);
    for (const limit of [1, 7, 38, 500]) {
      const { events: got, pages } = await writer.pull("", limit);
      expect(got.map(({ id }) => id)).toEqual(all);
      expect(pages).toBeGreaterThan(2);
    }
  });

  test("the same batches from two tabs on two nodes: each event exactly once", async () => {
    const elsewhere = new Device(other.api, device.token);
    const batches = Array.from({ length: 4 }, () =>
      Array.from({ length: 50 }, () => device.event("household-visit", { note: randomUUID() })),
    );
    const results = await Promise.all(
      batches.flatMap((batch) => [device.push(...batch), elsewhere.push(...batch), elsewhere.push(...batch)]),
    );
    const statuses = Map.groupBy(results.flat(), ({ id }) => id);
    for (const outcomes of statuses.values()) {
      expect(outcomes.map(({ status }) => status).sort()).toEqual(["accepted", "duplicate", "duplicate"]);
    }
    const ids = new Set(batches.flat().map(({ id }) => id));
    expect((await elsewhere.pull()).events.filter(({ id }) => ids.has(id))).toHaveLength(200);
  });

  test("edits that did not see each other are both kept, in the server's order, and marked", async () => {
    const second = await Device.ofWorker(other, "juma");
    const created = device.event("create-individual", person("Neema"));
    const { entityId } = created;
    await device.pushAll(created);
    await device.pushAll(device.event("update-individual", { village: "Voi" }, { entityId, baseVersion: 1 }));
    // Made offline on another device, from version 1; and two more of that device after it.
    await second.pushAll(
      second.event("update-individual", { village: "Taveta" }, { entityId, baseVersion: 1 }),
      second.event("update-individual", { rooms: 2 }, { entityId, baseVersion: 1 }),
    );
    await second.pushAll(second.event("update-individual", { rooms: 3 }, { entityId, baseVersion: 3 }));
    await device.pushAll(device.event("update-individual", { rooms: 4 }, { entityId, baseVersion: 5 }));
    const trail = (await device.pull()).events.filter(isOf(entityId));
    expect(trail.map(({ version, status, data, author }) => [version, status, author.username, data])).toEqual([
      [1, "applied", "amina", created.data],
      [2, "applied", "amina", { village: "Voi" }],
      [3, "conflicted", "juma", { village: "Taveta" }],
      [4, "conflicted", "juma", { rooms: 2 }],
      [5, "applied", "juma", { rooms: 3 }],
      [6, "applied", "amina", { rooms: 4 }],
    ]);
  });

  test("are counted by their results", async () => {
    const { registry } = node.app.http.httpSettings.metrics;
    const pushed = async (result: string) => {
      const line = new RegExp(`^fieldgate_sync_events_pushed_total\\{result="${result}"\\} (\\d+)$`, "m");
      return Number(line.exec(await registry.metrics())?.[1]);
    };
    const before = await Promise.all(["accepted", "duplicate", "rejected"].map(pushed));
    const event = device.event("household-visit", {});
    await device.push(event, event, device.event("update-group", {}), device.event("household-visit", {}));
    const after = await Promise.all(["accepted", "duplicate", "rejected"].map(pushed));
    expect(after.map((count, index) => count - (before[index] ?? 0))).toEqual([2, 1, 1]);
    expect(await registry.metrics()).toMatch(/^fieldgate_sync_events_pulled_total [1-9]/m);
  });

  test("a session that pushes without end is slowed down", async () => {
    const { store } = node.app.services;
    const flooder = await Device.ofWorker(node, "amina");
    await flooder.pushAll(flooder.event("household-visit", {}));
    const { limit } = node.config.policy.sync.perSession;
    await store.db.updateTable("budgets").set({ failed: limit }).where("failed", ">", 0).execute();
    const answer = await flooder.send({ deviceId: "d", events: [flooder.event("household-visit", {})] });
    expect([answer.status, answer.body.code]).toEqual([429, "rate_limited"]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    await store.db.deleteFrom("budgets").execute();
    await flooder.pushAll(flooder.event("household-visit", {}));
  });
});
