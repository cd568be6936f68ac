import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileAuthStorageAdapter } from "@fieldgate/client/storage/file";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { amina, useService } from "../../client/test/kit/service.ts";
import { ExternalSyncManager, HttpJsonAdapter } from "../src/index.ts";
import { SqliteEntityStore, SqliteEventStore } from "../src/stores/sqlite.ts";
import { person, useDevices } from "./kit/field.ts";

const service = useService();
const device = useDevices(service);

describe("a registry of the programme's own", () => {
  const people = new Map<string, unknown>();
  let isDown = false;
  const registry = createServer(async (request, response) => {
    const body = JSON.parse((await request.toArray()).join(""));
    if (isDown) return response.writeHead(503).end();
    if (body.name === "Refused") return response.writeHead(422).end("no such name");
    people.set(String(request.headers["idempotency-key"]), body);
    response.writeHead(201).end();
  });
  let url: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/people`;
  });
  afterAll(() => registry.close().closeAllConnections());

  test("gets each event once, in order, also when it was away; what it refuses is kept with the reason", async () => {
    const adapter = new HttpJsonAdapter({
      name: "registry",
      url,
      mapping: { reference: "event.entityId", name: "entity.data.names.given" },
      wants: ({ event }) => event.type === "create-individual",
    });
    const { manager } = device({ external: new ExternalSyncManager(adapter, { batchSize: 2 }) });
    await expect(manager.syncWithExternalSystem()).rejects.toMatchObject({ code: "not_authenticated" });
    await manager.login(amina);
    const [one, refused] = await manager.submitForms([person("Ann"), person("Refused"), person("Ben")]);
    isDown = true;
    await expect(manager.syncWithExternalSystem()).rejects.toMatchObject({ code: "unreachable" });
    isDown = false;
    const failed = [{ id: refused?.event.id, message: "registry answered 422: no such name" }];
    expect(await manager.syncWithExternalSystem()).toEqual({ sent: 2, skipped: 0, failed });
    expect(await manager.syncWithExternalSystem()).toEqual({ sent: 0, skipped: 0, failed: [] });
    expect([...people.values()]).toEqual([
      { reference: one?.event.entityId, name: "Ann" },
      { reference: expect.any(String), name: "Ben" },
    ]);
    const [entry] = await manager.getAuditTrail(refused?.event.entityId as string);
    expect(entry?.receipt?.external).toEqual({ registry: "registry answered 422: no such name" });
    await manager.submitForm({ type: "update-individual", entityId: one?.event.entityId as string, data: { a: 1 } });
    expect(await manager.syncWithExternalSystem()).toEqual({ sent: 0, skipped: 1, failed: [] });
    await expect(device().manager.syncWithExternalSystem()).rejects.toMatchObject({ code: "not_authenticated" });
  });

  test("a manager without sync managers says so", async () => {
    const { manager } = device();
    await manager.login(amina);
    await expect(manager.syncWithExternalSystem()).rejects.toMatchObject({ code: "not_configured" });
  });
});

describe("a program in Node", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fieldgate-program-"));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const program = () =>
    device({
      storage: new FileAuthStorageAdapter("demo", folder),
      events: new SqliteEventStore("demo", folder),
      entities: new SqliteEntityStore("demo", folder),
    });

  test("keeps its data in SQLite, and opens it again while the service is away", async () => {
    const first = program();
    await first.manager.login(amina);
    const { event } = await first.manager.submitForm(person("Stored"));
    await first.manager.close();
    const second = program();
    second.network.goDown();
    expect(await second.manager.getEntity(event.entityId)).toMatchObject({ data: { names: { given: "Stored" } } });
    await second.manager.submitForm({ type: "update-individual", entityId: event.entityId, data: { note: "offline" } });
    expect(await second.manager.verifyEvents()).toEqual({ intact: true, checked: 2, findings: [] });
    second.network.comeBack();
    expect(await second.manager.syncWithSyncServer()).toMatchObject({ pushed: 2, pulled: expect.any(Number) });
    expect(await second.manager.getEntity(event.entityId)).toMatchObject({ version: 2, unconfirmed: false });
  });
});
