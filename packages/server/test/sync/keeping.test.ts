import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Problem, routes, type VaultKey } from "@fieldgate/contract";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDataKeys } from "../../src/people/data-keys.ts";
import { rotateDataKeys } from "../../src/people/rotate-data-keys.ts";
import { findBeneficiary } from "../../src/store/beneficiaries.ts";
import { openStore } from "../../src/store/open-store.ts";
import { createKeyVault } from "../../src/tokens/key-vault.ts";
import { Programme } from "../beneficiaries/programme.ts";
import { MovableClock } from "../kit/clock.ts";
import { databases } from "../kit/databases.ts";
import { startNode, type TestNode, testSecret } from "../kit/node.ts";
import { TestChannel } from "../kit/test-channel.ts";
import { Device, person } from "./device.ts";

describe.each(databases)("what is kept of entities on $name", (database) => {
  let programme: Programme;
  let node: TestNode;
  let device: Device;
  const clock = new MovableClock();
  const sms = new TestChannel("sms", "sms");

  beforeAll(async () => {
    programme = await Programme.open(database);
    node = await startNode({ database: programme.config, clock, channels: [sms] });
    await node.addWorker({ username: "amina" });
    device = await Device.ofWorker(node, "amina");
  });
  afterAll(async () => {
    await node?.close();
    await programme?.close();
  });

  const compact = database.name === "postgres" ? ["--compact"] : [];

  /** Every byte that the database keeps in files. */
  async function files(): Promise<Buffer> {
    const { config } = programme;
    if (config.kind === "sqlite") {
      const folder = dirname(config.file);
      // By another process: one that closes the files would give up the locks of its own connections.
      const paths = readdirSync(folder).map((each) => join(folder, each));
      return execFileSync("cat", paths, { maxBuffer: 1e9 });
    }
    const client = new pg.Client({ connectionString: config.url });
    await client.connect();
    try {
      await client.query("checkpoint");
      const { rows } = await client.query<{ bytes: Buffer }>(
        `select pg_read_binary_file(pg_relation_filepath(oid)) as bytes from pg_class
         where relkind in ('r', 'i', 't') and relfilenode <> 0
           and relnamespace in ('public'::regnamespace, 'pg_toast'::regnamespace)`,
      );
      return Buffer.concat(rows.map(({ bytes }) => bytes));
    } finally {
      await client.end();
    }
  }
  const found = async (texts: readonly string[]) => {
    const bytes = await files();
    return texts.filter((text) => bytes.includes(text));
  };
  const vaultKey = async ({ token }: Device) =>
    (await node.api.call<VaultKey & Problem>(routes.vaultKey, { token })).body;
  const sealedOf = async (entityId: string) => {
    const rows = await programme.store.db
      .selectFrom("sync_events")
      .select("sealed_event")
      .where("entity_id", "=", entityId)
      .execute();
    return rows.flatMap(({ sealed_event: sealed }) => sealed ?? []);
  };
  const isOf = (entityId: string) => (event: { entityId: string }) => event.entityId === entityId;

  test("an erased person's events and vault key are gone from the files, devices are told, and nothing comes back", async () => {
    const created = device.event("create-individual", person("Zephyrine", { phones: ["0733987654"], note: "Quartz" }));
    const { entityId } = created;
    const visit = device.event("visit", { note: "Obsidian".repeat(2000) }, { entityId, baseVersion: 1 });
    const waiting = device.event("update-individual", { phones: ["0733987655"] }, { entityId, baseVersion: 2 });
    const neighbour = device.event("create-individual", person("Neighbour", { phones: ["0733987000"] }));
    await device.pushAll(created, visit, waiting, neighbour);
    const citizen = await Device.ofCitizen(node, sms, "+254733987654");
    await vaultKey(citizen);
    const { cursor } = await device.pull();
    const keys = await programme.store.db
      .selectFrom("vault_keys")
      .select("sealed_key")
      .where("user_id", "=", entityId)
      .execute();
    const traces = [...(await sealedOf(entityId)), ...keys.map((row) => row.sealed_key)];
    expect(traces).toHaveLength(4);
    // Long texts lie in pieces: their beginnings are enough to be found by.
    const beginnings = traces.map((trace) => trace.slice(0, 60));
    expect((await found(beginnings)).length).toBeGreaterThan(2);
    const plain = ["Zephyrine", "Quartz", "Obsidian", "0733987655", "+254733987654"];
    expect(await found(plain)).toEqual([]);

    const erased = await programme.line.json(["beneficiary", "erase", entityId, "--yes", ...compact]);
    expect(erased).toMatchObject({ erased: true, clean: database.name === "sqlite" ? true : null });
    expect(await found(beginnings)).toEqual([]);

    const rest = (await device.pull(cursor)).events;
    expect(rest.filter(isOf(entityId))).toMatchObject([{ type: "erase-entity", data: {}, version: 4 }]);
    const all = (await device.pull()).events;
    expect(all.filter(isOf(entityId)).map(({ type }) => type)).toEqual(["erase-entity"]);
    expect(all.filter(isOf(neighbour.entityId))).toHaveLength(1);
    expect(await device.push(created, visit)).toMatchObject([{ status: "duplicate" }, { status: "duplicate" }]);
    const late = [
      device.event("visit", { note: "late" }, { entityId, baseVersion: 3 }),
      device.event("create-individual", person("Back", { phones: ["0733987654"] }), { entityId }),
    ];
    expect(await device.push(...late)).toMatchObject([{ code: "entity_erased" }, { code: "entity_erased" }]);
    expect(await programme.line.jsonHere(["proposal", "list"])).toEqual([]);
  });

  test("somebody who was erased before any event spoke of them cannot come back by one either", async () => {
    const id = await node.addPerson({ names: { given: "Quiet" }, phones: ["0733987100"] });
    await programme.line.jsonHere(["beneficiary", "erase", id, "--yes"]);
    const late = device.event("create-individual", person("Quiet", { phones: ["0733987100"] }), { entityId: id });
    expect(await device.push(late)).toMatchObject([{ code: "entity_erased" }]);
  });

  test("an entity that is nobody who signs in, such as a household, can be erased too", async () => {
    const household = device.event("create-group", { name: "Malachite", address: "Serpentine Lane" });
    const { entityId } = household;
    await device.pushAll(
      household,
      device.event("add-member", { memberId: household.id }, { entityId, baseVersion: 1 }),
    );
    const traces = await sealedOf(entityId);
    await programme.line.jsonHere(["beneficiary", "erase", entityId, "--yes", ...compact]);
    expect(await found(traces)).toEqual([]);
    expect((await device.pull()).events.filter(isOf(entityId)).map(({ type }) => type)).toEqual(["erase-entity"]);
    expect(await programme.events("entity.erased")).toEqual([{ subject: entityId, data: {} }]);
    const again = await programme.line.runHere(["beneficiary", "erase", entityId, "--yes"]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("has no person")]);
  });

  test("of two people who are merged both histories stay, and are erased together", async () => {
    const [from, into] = ["0733987201", "0733987202"].map((phone) =>
      device.event("create-individual", person("Twin", { phones: [phone] })),
    ) as [ReturnType<Device["event"]>, ReturnType<Device["event"]>];
    await device.pushAll(from, into);
    await device.pushAll(device.event("visit", { note: "before" }, { entityId: from.entityId, baseVersion: 1 }));
    await programme.line.jsonHere(["beneficiary", "merge", from.entityId, into.entityId, "--yes"]);
    const cipher = await programme.cipher();
    expect((await findBeneficiary(programme.store, cipher, into.entityId))?.phones).toHaveLength(2);
    const trail = (await device.pull()).events.filter(isOf(from.entityId));
    expect(trail.map(({ type }) => type)).toEqual(["create-individual", "visit", "merge-entity"]);
    expect(trail.at(-1)?.data).toEqual({ into: into.entityId });
    expect(
      await device.push(
        device.event("visit", { note: "offline" }, { entityId: from.entityId, baseVersion: 2 }),
        device.event("update-individual", { phones: ["0733987203"] }, { entityId: from.entityId, baseVersion: 2 }),
      ),
    ).toMatchObject([{ status: "accepted" }, { code: "entity_merged" }]);
    await programme.line.jsonHere(["beneficiary", "erase", into.entityId, "--yes"]);
    expect(await sealedOf(from.entityId)).toHaveLength(1);
    const after = (await device.pull()).events;
    expect(after.filter(isOf(from.entityId)).map(({ type }) => type)).toEqual(["erase-entity"]);
  });

  test("new data keys seal events and vault keys anew, beside pushes", async () => {
    const event = device.event("visit", { note: "before the rotation" });
    await device.pushAll(event);
    const before = await vaultKey(device);
    const store = await openStore(programme.config, clock);
    const vault = createKeyVault(testSecret);
    const dataKeys = createDataKeys(store, vault, clock);
    let done = false;
    const rotation = rotateDataKeys({
      ...{ store, dataKeys, tenantId: "demo", onProgress: () => {}, signal: new AbortController().signal },
    }).finally(() => {
      done = true;
    });
    const meanwhile: string[] = [];
    while (!done) {
      const next = device.event("visit", { note: "meanwhile" });
      await device.pushAll(next);
      meanwhile.push(next.id);
      clock.advance(0.5);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const end = await rotation;
    expect(end).toMatchObject({ complete: true, dropped: true, version: 2 });
    expect(end.events).toBeGreaterThan(0);
    await store.close();
    const sealed = await programme.store.db
      .selectFrom("sync_events")
      .select("sealed_event")
      .where("sealed_event", "is not", null)
      .execute();
    expect(new Set(sealed.map((row) => row.sealed_event?.split(".")[0]))).toEqual(new Set(["2"]));
    const ids = (await device.pull()).events.map(({ id }) => id);
    for (const id of [event.id, ...meanwhile]) expect(ids).toContain(id);
    expect(await vaultKey(device)).toEqual(before);
  });

  test("another deployment secret leaves them as they are", async () => {
    const event = device.event("visit", { note: "under the old secret" });
    await device.pushAll(event);
    const key = await vaultKey(device);
    await node.close();
    const next = randomBytes(32);
    await programme.line.jsonHere(["secret", "rotate", "--new-secret-stdin"], { input: next.toString("base64") });
    const start = (secret: Buffer) => {
      const { baseUrl, audience } = node.config;
      const config = { baseUrl, audience, secret };
      return startNode({ database: programme.config, clock, config, channels: [sms] });
    };
    node = await start(next);
    device = new Device(node.api, device.token);
    expect(await vaultKey(device)).toEqual(key);
    expect((await device.pull()).events.find(({ id }) => id === event.id)?.data).toEqual(event.data);
    await node.close();
    await programme.line.jsonHere(["secret", "rotate", "--new-secret-stdin"], {
      input: testSecret.toString("base64"),
      env: { FIELDGATE_SECRET: next.toString("base64") },
    });
    node = await start(testSecret);
    device = new Device(node.api, device.token);
  });

  test("a restore brings events and vault keys back, and cursors of before begin anew", async () => {
    const kept = device.event("visit", { note: "kept" });
    await device.pushAll(kept);
    const key = await vaultKey(device);
    await programme.line.jsonHere(["backup", "sync.backup"]);
    const lost = device.event("visit", { note: "lost" });
    await device.pushAll(lost);
    const { cursor } = await device.pull();
    const { epoch } = (await device.fetch()).body;
    await node.close();
    await programme.line.jsonHere(["restore", "sync.backup", "--replace", "--yes", "--keep-sessions"]);
    const { baseUrl, audience } = node.config;
    node = await startNode({ database: programme.config, clock, config: { baseUrl, audience }, channels: [sms] });
    device = new Device(node.api, device.token);
    expect(await vaultKey(device)).toEqual(key);
    const fresh = device.event("visit", { note: "after" });
    await device.pushAll(fresh);
    expect((await device.fetch()).body.epoch).not.toBe(epoch);
    const ids = (await device.pull(cursor)).events.map(({ id }) => id);
    expect([kept, lost, fresh].map(({ id }) => ids.includes(id))).toEqual([true, false, true]);
    // The device still has it, and sends it again.
    expect(await device.push(kept, lost)).toMatchObject([{ status: "duplicate" }, { status: "accepted" }]);
  });
});
