import { type AuthAdapter, AuthManager } from "@fieldgate/client";
import { describe, expect, test } from "vitest";
import { amina, useService } from "../../client/test/kit/service.ts";
import { goodPassword } from "../../server/test/kit/node.ts";
import { TestChannel } from "../../server/test/kit/test-channel.ts";
import { EntityDataError, type SyncProgress } from "../src/index.ts";
import { person, useDevices } from "./kit/field.ts";

const sms = new TestChannel("sms", "sms");
const service = useService({ channels: [sms] });
const device = useDevices(service);

describe("with a real service", () => {
  test("collects before anybody signs in, syncs once, and a second device sees it", async () => {
    const first = device();
    const { event, entity } = await first.manager.submitForm(person("Wanjiru"));
    expect(entity).toMatchObject({ type: "individual", version: 1, unconfirmed: true });
    expect(event).toMatchObject({ author: null, sequence: 1, baseVersion: 0 });
    expect(await first.manager.hasUnsyncedEvents()).toBe(true);

    await first.manager.login(amina);
    expect(await first.manager.getEntity(event.entityId)).toMatchObject({ data: { names: { given: "Wanjiru" } } });
    expect(await first.manager.getUnsyncedEventsCount()).toBe(1);
    const progress: SyncProgress[] = [];
    const summary = await first.manager.syncWithSyncServer({ onProgress: (each) => progress.push(each) });
    expect(summary).toEqual({ pushed: 1, duplicates: 0, rejected: [], pulled: 1 });
    expect(progress).toContainEqual({ phase: "push", done: 1, total: 1 });
    expect(progress.at(-1)).toEqual({ phase: "pull", done: 1, total: 1 });
    expect(await first.manager.hasUnsyncedEvents()).toBe(false);
    expect(await first.manager.syncWithSyncServer()).toEqual({ pushed: 0, duplicates: 0, rejected: [], pulled: 0 });
    expect(await first.manager.getEntity(event.entityId)).toMatchObject({ version: 1, unconfirmed: false });

    const second = device();
    await second.manager.login(amina);
    await second.manager.syncWithSyncServer();
    const seen = await second.manager.getEntity(event.entityId);
    expect(seen).toMatchObject({ type: "individual", version: 1, data: { names: { given: "Wanjiru" } } });
    const [entry] = await second.manager.getAuditTrail(event.entityId);
    expect(entry).toMatchObject({ author: { username: "amina" }, status: "confirmed", receipt: { status: "applied" } });
  });

  test("without a signed-in person a sync rejects as not_authenticated and touches nothing", async () => {
    const { manager, events, network } = device();
    await manager.submitForm(person("Otieno"));
    const before = await events.count("pending");
    const sent = network.seen.length;
    const error = await manager.syncWithSyncServer().catch((reason) => reason);
    expect(error).toBeInstanceOf(EntityDataError);
    expect(error.code).toBe("not_authenticated");
    expect([await events.count("pending"), network.seen.length]).toEqual([before, sent]);
  });

  test("a token that ends in the middle of a sync is renewed", async () => {
    const { manager, device: clock } = device();
    await manager.login(amina);
    await manager.submitForms(Array.from({ length: 1200 }, (_, n) => person(`Person ${n}`)));
    let isFirst = true;
    const summary = await manager.syncWithSyncServer({
      onProgress({ phase, done }) {
        if (phase === "push" && done > 0 && isFirst) {
          isFirst = false;
          clock.letTokenEnd();
        }
      },
    });
    expect(summary).toMatchObject({ pushed: 1200, duplicates: 0, rejected: [] });
  });

  test("logout keeps what was not synced, says so, and gives it back at the next sign-in", async () => {
    const told: unknown[] = [];
    const { manager, auth, storage } = device();
    manager.subscribe((event) => told.push(event));
    await manager.login(amina);
    const { event } = await manager.submitForm(person("Kept"));
    expect(await manager.logout()).toEqual({ unsynced: 1 });
    expect(told).toContainEqual({ type: "unsyncedKept", count: 1 });
    expect(await storage.providers()).toEqual([]);
    expect((await auth.keys.list("vault")).filter(([id]) => !id.startsWith("device-"))).toEqual([]);
    expect(await manager.isAuthenticated()).toBe(false);
    expect(await manager.hasUnsyncedEvents()).toBe(true);
    expect(await manager.getEntity(event.entityId)).toBeNull();
    await expect(manager.syncWithSyncServer()).rejects.toMatchObject({ code: "not_authenticated" });

    await service.node.addWorker({ username: "brian" });
    await manager.login({ username: "brian", password: goodPassword });
    expect(await manager.hasUnsyncedEvents()).toBe(false);
    expect(await manager.getEntity(event.entityId)).toBeNull();
    expect(await manager.getAuditTrail(event.entityId)).toEqual([]);
    await manager.syncWithSyncServer();
    expect(await manager.getEntity(event.entityId)).toBeNull();
    await manager.logout();

    await manager.login(amina);
    expect(await manager.getEntity(event.entityId)).toMatchObject({ data: { names: { given: "Kept" } } });
    expect(await manager.syncWithSyncServer()).toMatchObject({ pushed: 1, rejected: [] });
  });

  test("two people of the same name, one right after the other, have nothing in common", async () => {
    await service.node.addWorker({ username: "john-a" });
    await service.node.addWorker({ username: "john-b" });
    // A provider that calls people by their display names.
    AuthManager.register(
      "display-name",
      (): AuthAdapter => ({
        initialize: async () => {},
        async login(credentials) {
          const worker = { username: credentials?.username ?? "", password: goodPassword };
          const { body } = await service.node.api.login({ ...worker, tenantId: "demo" });
          return { username: "John Otieno", token: body.token, userId: body.userId };
        },
        logout: async () => {},
        isAuthenticated: async () => true,
        validateToken: async () => true,
      }),
    );
    const { manager, auth } = device({ configs: [{ type: "display-name", fields: {} }] });
    await auth.login({ username: "john-a", password: "" }, "display-name");
    await manager.submitForm(person("Only John A knows"));
    expect(await manager.getAllEntities()).toHaveLength(1);
    await auth.login({ username: "john-b", password: "" }, "display-name");
    expect(auth.state).toMatchObject({ status: "signedIn", username: "John Otieno" });
    expect(await manager.getAllEntities()).toEqual([]);
    expect(await manager.hasUnsyncedEvents()).toBe(false);
    await manager.syncWithSyncServer();
    expect(await manager.searchEntities("only")).toEqual([]);
    await auth.login({ username: "john-a", password: "" }, "display-name");
    expect(await manager.syncWithSyncServer()).toMatchObject({ pushed: 1 });
    await manager.logout();
  });

  test("a citizen writes about themselves alone: what they write about another is kept, with the reason", async () => {
    const phone = "+254712345678";
    const own = await service.node.addPerson({ phones: [phone] });
    const another = await service.node.addPerson({ names: { given: "Another" } });
    const { manager, auth } = device({ configs: [{ type: "otp", fields: { serverUrl: service.url } }] });
    await auth.initialize();
    await auth.adapter("otp").requestOtp(phone);
    await auth.adapter("otp").verifyOtp(phone, await sms.codeFor(phone));
    const note = (entityId: string) => ({ type: "update-individual", entityId, data: { note: "moved" } });
    const [, refused] = await manager.submitForms([note(own), note(another)]);
    const { pushed, rejected } = await manager.syncWithSyncServer();
    expect(pushed).toBe(1);
    expect(rejected).toEqual([{ id: refused?.event.id, code: "forbidden", message: expect.any(String) }]);
    expect((await manager.getRejectedEvents()).map(({ receipt }) => receipt?.code)).toEqual(["forbidden"]);
    expect((await manager.getAllEntities()).map(({ id }) => id)).toEqual([own]);
    expect(await manager.logout()).toEqual({ unsynced: 0 });
  });

  test("who has shown no more than knowledge gets no key: nothing of theirs is kept for the next person", async () => {
    const birth = { year: 1990, month: 5, day: 17, estimated: false };
    const entityId = await service.node.addPerson({ nationalIds: [{ type: "national", number: "12345678" }], birth });
    const { manager, auth } = device({ configs: [{ type: "id", fields: { serverUrl: service.url } }] });
    await auth.initialize();
    await auth.adapter("id").authenticateWithId("12345678", "1990-05-17", "demo");
    const refusal = { code: "refused", status: 403, problem: "forbidden" };
    const form = { type: "update-individual", entityId, data: { note: "moved" } };
    await expect(manager.submitForm(form)).rejects.toMatchObject(refusal);
    await expect(manager.syncWithSyncServer()).rejects.toMatchObject(refusal);
    expect(await manager.getUnsyncedEventsCount()).toBe(0);
  });
});
