import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { addTenant, findTenant, findTenantIdByHost, updateTenant } from "../../src/people/tenants.ts";
import {
  addWorker,
  disableWorker,
  enableWorker,
  findWorker,
  findWorkerById,
  listWorkers,
  setPassword,
  storeRehash,
} from "../../src/people/workers.ts";
import { openStore } from "../../src/store/open-store.ts";
import { insertSession, listSessions } from "../../src/store/sessions.ts";
import type { Store } from "../../src/store/store.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";

const rules = { loopbackHttp: false };

describe.each(databases)("people on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let store: Store;

  beforeAll(async () => {
    database = await fresh();
    store = await openStore(database.config, systemClock);
    await store.transaction((tx) => addTenant(tx, { id: "kenya", name: "Kenya" }, rules));
    await store.transaction((tx) => addTenant(tx, { id: "uganda", name: "Uganda" }, rules));
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  const events = async (tenantId: string) => {
    const rows = await store.db
      .selectFrom("journal_events")
      .select(["type", "subject"])
      .where("tenant_id", "=", tenantId)
      .orderBy("at")
      .execute();
    return rows.map(({ type }) => type);
  };
  const addOne = (username: string, tenantId = "kenya") =>
    store.transaction((tx) => addWorker(tx, { tenantId, username, passwordHash: "old-hash", roles: ["field-worker"] }));
  let count = 0;
  const signIn = (userId: string) => {
    count += 1;
    return store.transaction((tx) =>
      insertSession(tx, {
        ...{ id: `session-${count}`, tenantId: "kenya", userId, kind: "field-worker", username: "x" },
        ...{ provider: "password", amr: ["pwd"], acr: "low", scope: "field-work", entityId: null, deviceId: null },
        ...{ refreshKeyId: null, jkt: null, headHash: null, parentId: null, idleSeconds: 1000, absoluteSeconds: 1000 },
      }),
    );
  };

  it("a host belongs to one tenant, whatever its spelling, and can move", async () => {
    const set = (id: string, hosts: string[]) =>
      store.transaction((tx) => updateTenant(tx, id, { settings: { hosts } }, rules));
    await set("kenya", ["ID.example.org"]);
    expect(await findTenantIdByHost(store, "id.EXAMPLE.org:8443")).toBe("kenya");
    expect(await findTenantIdByHost(store, "other.example.org")).toBeNull();
    expect(await findTenantIdByHost(store, "")).toBeNull();

    await expect(set("uganda", ["fresh.example.org", "id.example.org"])).rejects.toThrow("belongs to another tenant");
    expect(await findTenantIdByHost(store, "fresh.example.org")).toBeNull();
    expect((await findTenant(store, "uganda"))?.version).toBe(1);

    await set("kenya", []);
    await set("uganda", ["id.example.org"]);
    expect(await findTenantIdByHost(store, "id.example.org")).toBe("uganda");
  });

  it("two who change a tenant at once: one is told", async () => {
    const version = (await findTenant(store, "kenya"))?.version ?? 0;
    const change = (name: string) => store.transaction((tx) => updateTenant(tx, "kenya", { name, version }, rules));
    const outcomes = await Promise.allSettled([change("One"), change("Two")]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const refused = outcomes.find((outcome) => outcome.status === "rejected");
    expect(String(refused?.reason)).toContain("changed by someone else");
    expect((await findTenant(store, "kenya"))?.version).toBe(version + 1);
  });

  it("a tenant of no id or an impossible one is not found", async () => {
    for (const id of ["", "_", "KENYA", "../kenya", "kenya\0", "x".repeat(64)])
      expect(await findTenant(store, id)).toBeNull();
  });

  it("a change that fails leaves neither fact nor event", async () => {
    const before = await events("kenya");
    const failing = store.transaction(async (tx) => {
      await updateTenant(tx, "kenya", { name: "Lost" }, rules);
      await addWorker(tx, { tenantId: "kenya", username: "lost", passwordHash: null, roles: ["nonsense"] });
    });
    await expect(failing).rejects.toThrow("A role is one of");
    expect(await events("kenya")).toEqual(before);
    expect(await findWorker(store, "kenya", "lost")).toBeNull();
  });

  it("spellings of a username are one worker, in each tenant its own", async () => {
    const worker = await addOne("Ｊosé");
    expect(worker.username).toBe("Ｊosé");
    for (const spelling of ["josé", "JOSÉ", " Jose\u0301 "]) {
      expect((await findWorker(store, "kenya", spelling))?.id).toBe(worker.id);
      await expect(addOne(spelling)).rejects.toThrow("already has a user");
    }
    const other = await addOne("José", "uganda");
    expect(other.id).not.toBe(worker.id);
    expect(await findWorkerById(store, "uganda", worker.id)).toBeNull();
    expect((await findWorkerById(store, "kenya", worker.id))?.username).toBe("Ｊosé");
    expect(await findWorker(store, "kenya", "jos\0é")).toBeNull();
    await expect(addOne("someone", "nowhere")).rejects.toThrow("no tenant with the id nowhere");
  });

  it("many who add one name at once: one does", async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => addOne("Race")));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect((await listWorkers(store, "kenya")).filter(({ usernameKey }) => usernameKey === "race")).toHaveLength(1);
  });

  it("a new password and disabling raise the credential's version and end that worker's sessions", async () => {
    const worker = await addOne("amina");
    const neighbour = await addOne("neighbour");
    await signIn(neighbour.id);
    await signIn(worker.id);
    const changed = await store.transaction((tx) => setPassword(tx, worker, "new-hash"));
    expect(changed).toMatchObject({ passwordHash: "new-hash", credentialVersion: 2 });
    expect(await listSessions(store, { tenantId: "kenya", userId: worker.id })).toEqual([]);

    await signIn(worker.id);
    const disabled = await store.transaction((tx) => disableWorker(tx, changed));
    expect(disabled.credentialVersion).toBe(3);
    expect(disabled.disabledAt).toBeGreaterThan(Date.now() - 60_000);
    expect(await listSessions(store, { tenantId: "kenya", userId: worker.id })).toEqual([]);
    expect(await store.transaction((tx) => disableWorker(tx, disabled))).toBe(disabled);
    const enabled = await store.transaction((tx) => enableWorker(tx, disabled));
    expect(enabled).toMatchObject({ credentialVersion: 4, disabledAt: null });
    expect(await listSessions(store, { tenantId: "kenya", userId: neighbour.id })).toHaveLength(1);

    const told = await store.db.selectFrom("journal_events").select("type").where("subject", "=", worker.id).execute();
    expect(told.map(({ type }) => type).sort()).toEqual([
      "session.ended",
      "session.ended",
      "worker.added",
      "worker.disabled",
      "worker.enabled",
      "worker.password_changed",
    ]);
  });

  it("a rehash is kept only for the credential that was checked, and raises nothing", async () => {
    const worker = await addOne("rehash");
    await store.transaction((tx) => storeRehash(tx, worker, "stronger"));
    const after = await findWorkerById(store, "kenya", worker.id);
    expect(after).toMatchObject({ passwordHash: "stronger", credentialVersion: 1 });
    await store.transaction((tx) => storeRehash(tx, worker, "late"));
    expect((await findWorkerById(store, "kenya", worker.id))?.passwordHash).toBe("stronger");
    await store.transaction((tx) => setPassword(tx, after ?? worker, "chosen"));
    await store.transaction((tx) => storeRehash(tx, after ?? worker, "later"));
    expect((await findWorkerById(store, "kenya", worker.id))?.passwordHash).toBe("chosen");
  });

  it("disabling a tenant ends its sessions and no other's", async () => {
    const here = await addOne("in-kenya");
    await signIn(here.id);
    await store.transaction((tx) => updateTenant(tx, "uganda", { disabled: true }, rules));
    expect(await listSessions(store, { tenantId: "kenya", userId: here.id })).toHaveLength(1);
    const disabled = await store.transaction((tx) => updateTenant(tx, "kenya", { disabled: true }, rules));
    expect(disabled.disabledAt).not.toBeNull();
    expect(await listSessions(store, { tenantId: "kenya" })).toEqual([]);
    const again = await store.transaction((tx) => updateTenant(tx, "kenya", { name: "Kenya again" }, rules));
    expect(again.disabledAt).toBe(disabled.disabledAt);
    const enabled = await store.transaction((tx) => updateTenant(tx, "kenya", { disabled: false }, rules));
    expect(enabled.disabledAt).toBeNull();
  });
});
