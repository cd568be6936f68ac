import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { issueCard } from "../../server/src/people/cards.ts";
import { createKeyVault } from "../../server/src/tokens/key-vault.ts";
import { goodPassword, startNode, type TestNode, testSecret } from "../../server/test/kit/node.ts";
import { TestChannel } from "../../server/test/kit/test-channel.ts";
import { SelectionRequiredError } from "../src/adapters/citizen-sign-in.ts";
import { StepUpRequiredError } from "../src/adapters/second-step.ts";
import { AuthManager } from "../src/auth-manager.ts";
import { readClaims } from "../src/encoding.ts";
import type { AuthManagerOptions } from "../src/options.ts";
import { MemoryAuthStorageAdapter } from "../src/storage/memory.ts";
import { adapterConformance } from "../src/testing/index.ts";
import { FaultyNetwork, paths } from "./kit/faulty-network.ts";
import { Device, wait } from "./kit/service.ts";

describe("citizens", () => {
  let folder: string;
  let node: TestNode;
  const sms = new TestChannel("sms", "sms");
  const opened: AuthManager[] = [];
  let lastNumber = 100;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fieldgate-client-"));
    node = await startNode({ database: { kind: "sqlite", file: join(folder, "f.db") }, channels: [sms] });
    await node.addTenant("demo", { defaultCountry: "KE" });
    await node.addTenant("strict", { defaultCountry: "KE", nationalId: { secondStep: "always" } });
    await node.addWorker({ username: "amina", roles: ["field-worker", "supervisor"] });
  });
  afterAll(async () => {
    for (const auth of opened) await auth.close();
    await node.close();
    await rm(folder, { recursive: true });
  });

  function manager({ tenantId = "demo", ...options }: AuthManagerOptions & { tenantId?: string } = {}) {
    const network = new FaultyNetwork();
    const device = new Device();
    const storage = new MemoryAuthStorageAdapter(tenantId);
    const configs = ["otp", "id"].map((type) => ({ type, fields: { serverUrl: node.url } }));
    const all = { fetch: network.fetch, now: device.now, checkInterval: 0, ...options };
    const auth = new AuthManager(configs, node.url, storage, all);
    opened.push(auth);
    return { auth, network, storage, device };
  }

  /** Somebody with a phone of their own. */
  async function person(facts: Parameters<TestNode["addPerson"]>[0] = {}, tenantId = "demo") {
    const phone = `+254712000${++lastNumber}`;
    return { phone, entityId: await node.addPerson({ phones: [phone], ...facts }, tenantId) };
  }

  async function codeFor(auth: AuthManager, phone: string): Promise<string> {
    const sent = sms.sent.length;
    const { success, expiresIn } = await auth.adapter("otp").requestOtp(phone);
    expect(success).toBe(true);
    expect(expiresIn).toBeGreaterThan(60);
    return sms.codeFor(phone, sent);
  }

  test("sign in with a code, in the ten lines of the guide", async () => {
    const { phone, entityId } = await person();
    const { auth, storage, network } = manager();
    await auth.initialize();
    const code = await codeFor(auth, phone);
    const { username, token } = await auth.adapter("otp").verifyOtp(phone, code);
    expect(username).toBe(`self-service:${entityId}`);
    expect(readClaims(token)).toMatchObject({ scope: "self-service", entityId, tenantId: "demo" });
    expect(auth.state).toEqual({ status: "signedIn", provider: "otp", username });
    expect(await auth.getToken()).toBe(token);
    expect(await storage.get("otp")).toMatchObject({ provider: "otp", username, token });
    expect(await auth.getCurrentUser()).toMatchObject({ kind: "beneficiary", entityId });
    expect(await auth.adapter("otp").isAuthenticated()).toBe(true);
    expect(network.seen[0]?.body).toEqual({ recipient: phone, tenantId: "demo" });
    await auth.logout();
    expect(await storage.providers()).toEqual([]);
    expect((await node.api.checkToken(token)).status).toBe(401);
  });

  test("a wrong code is a typed error, and the state is as before", async () => {
    const { phone } = await person();
    const { auth } = manager();
    await auth.initialize();
    const code = await codeFor(auth, phone);
    const wrong = code === "000000" ? "000001" : "000000";
    await expect(auth.adapter("otp").verifyOtp(phone, wrong)).rejects.toMatchObject({ name: "AuthError", status: 401 });
    expect(auth.state).toEqual({ status: "signedOut", reason: "never" });
    expect(await auth.adapter("otp").verifyOtp(phone, code)).toHaveProperty("token");
  });

  test("a household that shares a phone chooses", async () => {
    const phone = `+254712000${++lastNumber}`;
    const wanjiru = await node.addPerson({ phones: [phone], names: { given: "Wanjiru" } });
    await node.addPerson({ phones: [phone], names: { given: "Kamau" } });
    const { auth } = manager();
    await auth.initialize();
    const code = await codeFor(auth, phone);
    const error = await auth
      .adapter("otp")
      .verifyOtp(phone, code)
      .catch((e) => e);
    expect(error).toBeInstanceOf(SelectionRequiredError);
    expect(error.code).toBe("selection_required");
    expect(error.selection.map(({ label }: { label: string }) => label).sort()).toEqual(["Kamau", "Wanjiru"]);
    expect(auth.state.status).toBe("signedOut");
    const { username } = await (error as SelectionRequiredError).select(wanjiru);
    expect(username).toBe(`self-service:${wanjiru}`);
    expect(auth.state).toMatchObject({ status: "signedIn", provider: "otp" });
  });

  test("sign in with ID number and date of birth", async () => {
    const birth = { year: 1990, month: 5, day: 17, estimated: false };
    const facts = { nationalIds: [{ type: "national", number: "12345678" }], birth };
    const { entityId } = await person(facts);
    const { auth, storage } = manager();
    await auth.initialize();
    const { username } = await auth.adapter("id").authenticateWithId("1234-5678", "1990-05-17", "demo");
    expect(username).toBe(`self-service:${entityId}`);
    expect(await storage.get("id")).toMatchObject({ provider: "id", username });
    expect(auth.state).toMatchObject({ status: "signedIn", provider: "id" });
  });

  test("another tenant than the storage's is refused before anything is sent", async () => {
    const { auth, network } = manager();
    await auth.initialize();
    const attempt = auth.adapter("id").authenticateWithId("12345678", "1990-05-17", "strict");
    await expect(attempt).rejects.toMatchObject({ code: "tenant_mismatch", field: "tenantId" });
    expect(network.seen).toEqual([]);
  });

  test("a second step arrives as an error that completes it", async () => {
    const birth = { year: 1985, month: 1, day: 2, estimated: false };
    const facts = { nationalIds: [{ type: "national", number: "87654321" }], birth };
    const { entityId, phone } = await person(facts, "strict");
    const { auth } = manager({ tenantId: "strict" });
    await auth.initialize();
    const sent = sms.sent.length;
    const error = await auth
      .adapter("id")
      .authenticateWithId("87654321", "1985-01-02", "strict")
      .catch((e) => e);
    expect(error).toBeInstanceOf(StepUpRequiredError);
    expect(error.destination).toBeTruthy();
    expect(error.destination).not.toContain(phone);
    const code = await sms.codeFor(phone, sent);
    const { username } = await (error as StepUpRequiredError).complete(code);
    expect(username).toBe(`self-service:${entityId}`);
    expect(auth.state).toMatchObject({ status: "signedIn", provider: "id" });
  });

  test("a card signs in, and a worker can present it for somebody without leaving their own session", async () => {
    const { entityId } = await person({ names: { given: "Juma" } });
    const { dataKeys, store, clock } = node.app.services;
    const cipher = await dataKeys.cipher("demo");
    const context = { cipher, vault: createKeyVault(testSecret), baseUrl: node.url, now: clock.now() };
    const card = await store.transaction((tx) => issueCard(tx, context, entityId, 3600));
    const { auth } = manager();
    await auth.initialize();
    expect(await auth.adapter("id").authenticateWithQr(card.text)).toMatchObject({
      username: `self-service:${entityId}`,
    });
    expect(auth.state).toMatchObject({ provider: "id" });

    const { auth: workers } = manager();
    await workers.initialize();
    const assisted = () => workers.adapter("id").authenticateWithQr(card.text, { assisted: true });
    await expect(assisted()).rejects.toMatchObject({ code: "not_signed_in" });
    await workers.login({ username: "amina", password: goodPassword });
    const { username, token } = await assisted();
    expect(username).toBe(`self-service:${entityId}`);
    expect(readClaims(token)).toMatchObject({ entityId });
    expect(workers.state).toMatchObject({ status: "signedIn", provider: "password", username: "amina" });
  });

  test("login is not their way, and says which is", async () => {
    const { auth } = manager();
    await auth.initialize();
    await expect(auth.login({ username: "a", password: "b" }, "otp")).rejects.toThrow(/requestOtp.*verifyOtp/);
    await expect(auth.login(null, "id")).rejects.toThrow(/authenticateWithId.*authenticateWithQr/);
    expect(auth.state.status).toBe("signedOut");
  });

  test("a session without a refresh token counts as long as its token, and by the server's clock", async () => {
    const { phone } = await person();
    const { auth, network, storage, device } = manager();
    await auth.initialize();
    const { token } = await auth.adapter("otp").verifyOtp(phone, await codeFor(auth, phone));
    device.offset += 86_400_000;
    // The clock was set, nothing has happened: the server says so.
    expect(await auth.isAuthenticated()).toBe(true);
    expect(await auth.getToken()).toBe(token);
    network.goDown();
    device.offset += 61_000;
    expect(await auth.getToken()).toBe(token);
    expect(auth.state.status).toBe("offlineGrace");
    device.offset += 86_400_000;
    expect(await auth.isAuthenticated()).toBe(false);
    expect(await auth.getToken()).toBeNull();
    expect(auth.state).toMatchObject({ status: "expired", reason: "grace_over" });
    expect((await storage.get("otp"))?.token).toBe(token);
    network.comeBack();
    await wait(250);
    expect(await auth.getToken()).toBe(token);
    expect(auth.state.status).toBe("signedIn");
  });

  test("a token that the server refuses ends the session, because nothing can renew it", async () => {
    const { phone } = await person();
    const { auth, storage, device } = manager();
    await auth.initialize();
    const { token } = await auth.adapter("otp").verifyOtp(phone, await codeFor(auth, phone));
    await node.api.logout({ token });
    device.offset += 61_000;
    expect(await auth.getToken()).toBeNull();
    expect(auth.state).toMatchObject({ status: "expired", reason: "session_revoked" });
    expect(await storage.get("otp")).toMatchObject({ token: "", ended: "session_revoked" });
  });

  test("the stored token is validated by POST check-token", async () => {
    const { phone } = await person();
    const { auth, network, device } = manager();
    await auth.initialize();
    await auth.adapter("otp").verifyOtp(phone, await codeFor(auth, phone));
    device.offset += 61_000;
    await auth.getToken();
    expect(network.to(paths.check).map(({ method }) => method)).toEqual(["POST"]);
  });

  describe.each(["otp", "id"] as const)("the %s adapter passes the suite", (type) => {
    const network = new FaultyNetwork();
    const cases = adapterConformance({
      async create() {
        const { auth } = manager({ fetch: network.fetch });
        await auth.initialize();
        return auth.adapter(type);
      },
      async signIn(adapter) {
        const number = String(20_000_000 + ++lastNumber);
        const birth = { year: 1990, month: 5, day: 17, estimated: false };
        const { phone } = await person({ nationalIds: [{ type: "national", number }], birth });
        if ("authenticateWithId" in adapter) {
          return (adapter as ReturnType<typeof idOf>).authenticateWithId(number, "1990-05-17", "demo");
        }
        const otp = adapter as ReturnType<typeof otpOf>;
        const sent = sms.sent.length;
        await otp.requestOtp(phone);
        return otp.verifyOtp(phone, await sms.codeFor(phone, sent));
      },
      network: { down: () => network.goDown(), up: () => network.comeBack() },
    });
    for (const { name, run } of cases) test(name, run);
  });
});

const otpOf = (auth: AuthManager) => auth.adapter("otp");
const idOf = (auth: AuthManager) => auth.adapter("id");
