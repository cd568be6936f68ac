import { setTimeout as sleep } from "node:timers/promises";
import { routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openProviderSecret, setProviderSecret } from "../../src/people/identity-providers.ts";
import { updateTenant } from "../../src/people/tenants.ts";
import { disableWorker, findWorkerById } from "../../src/people/workers.ts";
import { endSessions } from "../../src/store/sessions.ts";
import { createKeyVault } from "../../src/tokens/key-vault.ts";
import { databases } from "../kit/databases.ts";
import { testSecret } from "../kit/node.ts";
import { demandRefusal, demandWelcome } from "../tokens/every-check.ts";
import type { Claims } from "./little-provider.ts";
import { Programme } from "./programme.ts";

describe.each(databases)("a provider's access token as Bearer, on $name", (database) => {
  let programme: Programme;

  beforeAll(async () => {
    programme = await Programme.start(database, { nodes: 2 });
  });
  afterAll(() => programme?.close());

  const check = (token: string, headers: Record<string, string> = {}) =>
    programme.node.api.call<Claims & { code?: string }>(routes.checkToken, { token, headers });

  test.each([
    ["kenya", "oidc_a"],
    ["north", "oidc_b"],
  ])("of %s is good at every endpoint, and its tenant is the token's", async (tenantId, provider) => {
    const token = await programme.accessToken(tenantId, { name: "Amina Otieno" });
    for (const node of programme.nodes) await demandWelcome(node, token);
    const verdict = (await check(token, { "x-tenant-id": "south" })).body;
    expect(verdict).toMatchObject({ valid: true, provider, tenantId, scope: "field-work" });
    const me = (await programme.node.api.me(token)).body;
    expect(me).toMatchObject({
      userId: verdict.subject,
      tenantId,
      kind: "field-worker",
      roles: ["field-worker"],
      provider,
    });
    // The same person by way of the exchange is the same worker.
    expect((await programme.signIn(tenantId)).body.userId).toBe(me.userId);
  });

  const now = Math.floor(Date.now() / 1000);
  const wrong: [string, Claims][] = [
    ["expired", { exp: now - 61 }],
    ["no exp", { exp: undefined }],
    ["not valid yet", { nbf: now + 120 }],
    ["issued in the future", { iat: now + 120 }],
    ["no iat", { iat: undefined }],
    ["a life of a year", { exp: now + 365 * 86_400 }],
    ["another client", { azp: "another" }],
    ["no client", { azp: undefined }],
    ["two clients", { client_id: "another" }],
    ["no sub", { sub: undefined }],
    ["an at_hash, as ID tokens have", { at_hash: "h" }],
    ["a key it is bound to", { cnf: { jkt: "k" } }],
    ["an ID token's typ", { typ: "ID" }],
    ["a refresh token's typ", { typ: "Refresh" }],
  ];
  const wrongForHosted: [string, Claims][] = [
    ["a nonce, as ID tokens have", { nonce: "n" }],
    ["another audience", { aud: "https://other" }],
    ["no audience", { aud: undefined }],
    ["the client as audience", { aud: "app" }],
    ["no org_id", { org_id: undefined }],
    ["an org_name that looks like it", { org_id: undefined, org_name: "org_kenya" }],
    ["an org_id in another case", { org_id: "Org_Kenya" }],
    ["a list of org_ids", { org_id: ["org_kenya"] }],
    ["an organization that no tenant has", { org_id: "org_nobody" }],
  ];
  const wrongForRealm: [string, Claims][] = [
    ["no typ", { typ: undefined }],
    ["a typ in another case", { typ: "bearer" }],
  ];

  test("everything that is wrong with one is the same 401", async () => {
    const { provider } = programme;
    const tokens: string[] = [];
    for (const [, claims] of [...wrong, ...wrongForHosted]) tokens.push(await programme.accessToken("kenya", claims));
    for (const [, claims] of [...wrong, ...wrongForRealm]) tokens.push(await programme.accessToken("north", claims));
    for (const iss of [`${provider.url}/`, `${provider.url}/x`, provider.url.replace("http", "https")]) {
      tokens.push(await programme.accessToken("kenya", { iss }));
    }
    const realm = `${provider.url}/realms/north`;
    for (const iss of [`${realm}/`, `${realm}2`, `${provider.url}/realms/nobody`, realm.replace("http", "https")]) {
      tokens.push(await programme.accessToken("north", { iss }));
    }
    for (const tenantId of ["kenya", "north"]) {
      tokens.push(await provider.sign(programme.idClaims(tenantId, "n")));
      tokens.push(await provider.sign({ ...programme.idClaims(tenantId, "n"), nonce: undefined }));
      tokens.push(await provider.sign(programme.accessClaims(tenantId), { header: { typ: "logout+jwt" } }));
    }
    for (const token of tokens) await demandRefusal(programme.node, token);
  });

  test("the other realm's token says the other realm, though both share a key", async () => {
    const token = await programme.accessToken("south");
    expect((await check(token, { "x-tenant-id": "north" })).body.tenantId).toBe("south");
  });

  test("a hosted provider without a configured audience vouches for no access token", async () => {
    const fields = { authority: programme.provider.url, client_id: "app", organization: "org_bare" };
    await programme.node.addTenant("bare", { adapters: [{ type: "oidc_a", fields }] });
    programme.clock.advance(2);
    await demandRefusal(programme.node, await programme.accessToken("kenya", { org_id: "org_bare" }));
  });

  test("a disabled worker's tokens end within five seconds on every node, and new ones are refused", async () => {
    const token = await programme.accessToken("north", { sub: "chidi" });
    const { store } = programme.node.app.services;
    const userId = String((await check(token)).body.subject);
    const [, other] = programme.nodes;
    expect((await other?.api.checkToken(token))?.status).toBe(200);
    const worker = await findWorkerById(store, "north", userId);
    if (!worker) throw new Error("The worker is gone.");
    await store.transaction((tx) => disableWorker(tx, worker));
    const deadline = performance.now() + 5000;
    for (const { api } of programme.nodes) {
      while ((await api.checkToken(token)).status === 200 && performance.now() < deadline) await sleep(50);
      expect((await api.checkToken(token)).body.code).toBe("session_revoked");
    }
    await demandRefusal(programme.node, await programme.accessToken("north", { sub: "chidi" }));
  });

  test("an administrator ends it like any session; log-out does too", async () => {
    const token = await programme.accessToken("north", { sub: "dora" });
    const userId = String((await check(token)).body.subject);
    const { store, revocations } = programme.node.app.services;
    revocations.add(await store.transaction((tx) => endSessions(tx, { tenantId: "north", userId }, "ended_by_admin")));
    expect((await check(token)).body.code).toBe("session_revoked");
    const next = await programme.accessToken("north", { sub: "dora" });
    expect((await check(next)).status).toBe(200);
    expect((await programme.node.api.logout({ token: next })).status).toBe(204);
    expect((await check(next)).body.code).toBe("session_revoked");
  });

  test("it expires as it says, and a tenant that leaves its provider leaves its tokens", async () => {
    await programme.node.addTenant("leaving", programme.realm("leaving"));
    programme.clock.advance(2);
    const short = await programme.accessToken("leaving", { exp: programme.provider.seconds + 30 });
    const long = await programme.accessToken("leaving", { exp: programme.provider.seconds + 3600 });
    for (const token of [short, long]) expect((await check(token)).status).toBe(200);
    programme.clock.advance(31);
    await demandRefusal(programme.node, short);
    expect((await check(long)).status).toBe(200);
    await programme.node.app.services.store.transaction((tx) =>
      updateTenant(tx, "leaving", { settings: {} }, { loopbackHttp: true }),
    );
    programme.clock.advance(61);
    await demandRefusal(programme.node, long);
  });

  describe("an opaque one", () => {
    const asked = () => programme.provider.introspections.length;
    const good = (): Claims => ({
      ...{ active: true, client_id: "app", token_type: "Bearer", sub: "amina", org_id: "org_kenya" },
      ...{ iat: programme.provider.seconds, exp: programme.provider.seconds + 600 },
    });
    const header = { "x-tenant-id": "kenya" };

    test("is refused without a client secret, and nobody is asked", async () => {
      const before = asked();
      expect((await check("opaque-token-0", header)).body.code).toBe("invalid_token");
      expect((await check("opaque-token-0")).body.code).toBe("invalid_token");
      expect(asked()).toBe(before);
    });

    test("is what the provider says of it to the client", async () => {
      const { store, providers } = programme.node.app.services;
      const vault = createKeyVault(testSecret);
      await store.transaction((tx) => setProviderSecret(tx, vault, { tenantId: "kenya", type: "oidc_a" }, "s3cret/+ü"));
      programme.clock.advance(2);
      const provider = await providers.find("kenya", "oidc_a");
      expect(provider?.sealedSecret).not.toContain("s3cret");
      expect(provider && openProviderSecret(vault, provider)).toBe("s3cret/+ü");

      programme.provider.introspected = good();
      const answer = await check("opaque-token-1", header);
      expect(answer.body).toMatchObject({ valid: true, provider: "oidc_a", tenantId: "kenya" });
      const question = programme.provider.introspections.at(-1);
      expect(question?.get("token")).toBe("opaque-token-1");
      const basic = Buffer.from(question?.get("authorization")?.replace("Basic ", "") ?? "", "base64").toString();
      expect(basic).toBe(`app:${encodeURIComponent("s3cret/+ü")}`);

      const before = asked();
      expect((await check("opaque-token-1", header)).status, "remembered for a while").toBe(200);
      expect(asked()).toBe(before);
      programme.provider.introspected = { active: false };
      programme.clock.advance(61);
      expect((await check("opaque-token-1", header)).body.code, "and then asked about again").toBe("invalid_token");
      expect(asked()).toBe(before + 1);
      expect((await check("opaque-token-1", header)).body.code).toBe("invalid_token");
      expect(asked(), "a refused one is not asked about each time").toBe(before + 1);
    });

    test("is refused when the answer is not for the client, not of the organization, or not of an access token", async () => {
      const wrongAnswers: Claims[] = [
        { client_id: "another" },
        { client_id: undefined },
        { org_id: "org_uganda" },
        { org_id: undefined },
        { token_type: undefined },
        { token_type: "DPoP" },
        { active: "true" },
        { sub: undefined },
        { iss: "https://other.example" },
        { exp: programme.provider.seconds - 1 },
      ];
      for (const [index, claims] of wrongAnswers.entries()) {
        programme.provider.introspected = { ...good(), ...claims };
        const answer = await check(`opaque-wrong-${index}`, header);
        expect([answer.status, answer.body.code], JSON.stringify(claims)).toEqual([401, "invalid_token"]);
      }
    });

    test("is a 503 while the provider is away; nothing of ours is ever sent to it", async () => {
      programme.provider.mood = "away";
      const answer = await check("opaque-token-2", header);
      expect([answer.status, answer.body.code]).toEqual([503, "provider_unavailable"]);
      programme.provider.mood = "well";
      const before = asked();
      const { body } = await programme.signIn("kenya");
      for (const secret of [body.refreshToken, body.deviceToken, `${body.token}x`]) {
        expect((await check(secret, header)).status).toBe(401);
      }
      expect(asked()).toBe(before);
    });
  });
});
