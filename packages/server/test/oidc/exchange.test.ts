import { createHmac } from "node:crypto";
import { routes } from "@fieldgate/contract";
import { decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { updateTenant } from "../../src/people/tenants.ts";
import { disableWorker, findWorkerById } from "../../src/people/workers.ts";
import { databases } from "../kit/databases.ts";
import { DpopKey } from "../kit/dpop-key.ts";
import { goodPassword } from "../kit/node.ts";
import { withoutInstance } from "../tokens/every-check.ts";
import { base64url, compact, unsigned } from "../tokens/forge.ts";
import { type Claims, newKey } from "./little-provider.ts";
import { Programme, type SignIn } from "./programme.ts";

describe.each(databases)("an ID token becomes a session, on $name", (database) => {
  let programme: Programme;
  let refusal: string;

  beforeAll(async () => {
    programme = await Programme.start(database, { nodes: 2 });
    refusal = withoutInstance((await programme.signIn("kenya", { aud: "another" })).text);
  });
  afterAll(() => programme?.close());

  /** One answer for everything that can be wrong with an ID token. */
  const demandRefused = (answer: { status: number; text: string }, about: string) => {
    expect([answer.status, withoutInstance(answer.text)], about).toEqual([401, refusal]);
  };

  test.each([
    ["kenya", "oidc_a"],
    ["north", "oidc_b"],
  ])("in %s, through %s", async (tenantId, provider) => {
    const begun = await programme.begin();
    const answer = await programme.signIn(tenantId, {}, { begun });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ username: "Amina Otieno", tenantId, tokenType: "Bearer" });
    const { api } = programme.node;
    const { token, userId, refreshToken } = answer.body;
    expect((await api.checkToken(token)).body).toMatchObject({ valid: true, provider, subject: userId, tenantId });
    expect((await api.me(token)).body).toMatchObject({
      userId,
      kind: "field-worker",
      roles: ["field-worker"],
      provider,
    });

    expect((await api.refresh(refreshToken)).body.code).toBe("invalid_dpop_proof");
    const renewed = await api.refresh(refreshToken, { key: begun.key });
    expect(renewed.body).toMatchObject({ username: "Amina Otieno", userId });
    expect((await api.logout({ token: renewed.body.token })).status).toBe(204);
    expect((await api.checkToken(token)).body.code).toBe("session_revoked");
  });

  test("the same person is the same worker each time, and another one in another tenant", async () => {
    const [first, again, elsewhere, other] = await Promise.all([
      programme.signIn("kenya"),
      programme.signIn("kenya", { email: "new@example.org" }),
      programme.signIn("uganda"),
      programme.signIn("kenya", { sub: "bilal", email: "new@example.org", email_verified: true }),
    ]);
    expect(again.body.userId).toBe(first.body.userId);
    expect(new Set([first, elsewhere, other].map(({ body }) => body.userId)).size).toBe(3);
  });

  test("the name is that of the profile", async () => {
    const names: [Claims, string][] = [
      [{ name: undefined, preferred_username: "amina", email: "a@example.org" }, "amina"],
      [{ name: "\u0007", preferred_username: undefined, email: "a@example.org" }, "a@example.org"],
      [{ name: "x".repeat(300), email: 7, sub: "auth0|7" }, "auth0|7"],
    ];
    for (const [claims, username] of names) {
      expect((await programme.signIn("kenya", { sub: username, ...claims })).body.username).toBe(username);
    }
  });

  test("auth0 and keycloak are other names of the types", async () => {
    expect((await programme.signIn("kenya", {}, { type: "auth0" })).status).toBe(200);
    expect((await programme.signIn("north", {}, { type: "keycloak" })).status).toBe(200);
    const foreign = await programme.signIn("north", {}, { type: "oidc_a" });
    demandRefused(foreign, "a type that the tenant does not have");
  });

  const wrongForOrganization: [string, Claims][] = [
    ["no org_id", { org_id: undefined }],
    ["no org_id but an org_name that looks like it", { org_id: undefined, org_name: "org_kenya" }],
    ["an org_id in another case", { org_id: "ORG_KENYA" }],
    ["a list of org_ids", { org_id: ["org_kenya"] }],
    ["an org_id with a suffix", { org_id: "org_kenya2" }],
    ["another organization", { org_id: "org_uganda" }],
  ];
  const now = Math.floor(Date.now() / 1000);
  const wrong: [string, Claims][] = [
    ["another audience", { aud: "another" }],
    ["an audience in another case", { aud: "APP" }],
    ["several audiences and no azp", { aud: ["app", "another"], azp: undefined }],
    ["issued to another client", { azp: "another" }],
    ["no audience", { aud: undefined }],
    ["expired", { exp: now - 61 }],
    ["no exp", { exp: undefined }],
    ["not valid yet", { nbf: now + 120 }],
    ["issued in the future", { iat: now + 120 }],
    ["more than five minutes old", { iat: now - 310 }],
    ["no iat", { iat: undefined }],
    ["no nonce", { nonce: undefined }],
    ["another nonce", { nonce: "A".repeat(43) }],
    ["no sub", { sub: undefined }],
    ["a sub with NUL", { sub: "a\0b" }],
    ["a sub that is too long", { sub: "x".repeat(256) }],
    ["a sub that is no text", { sub: { toString: "amina" } }],
    ["no iss", { iss: undefined }],
    ["an access token's typ", { typ: "Bearer" }],
    ["a logout event", { events: { "http://schemas.openid.net/event/backchannel-logout": {} } }],
  ];

  test.each([...wrongForOrganization, ...wrong])("%s is refused from a hosted provider", async (about, claims) => {
    demandRefused(await programme.signIn("kenya", claims), about);
  });

  test.each(wrong)("%s is refused from a realm", async (about, claims) => {
    demandRefused(await programme.signIn("north", claims), about);
  });

  test("issuers that only look like the right one are refused", async () => {
    const { url } = programme.provider;
    const forKenya = [`${url}/`, `${url}.evil.example`, url.replace("http:", "https:"), url.toUpperCase(), `${url}/x`];
    for (const iss of forKenya) demandRefused(await programme.signIn("kenya", { iss }), iss);
    const realm = `${url}/realms/north`;
    const forNorth = [`${realm}/`, `${realm}2`, `${url}/realms/south`, `${url}/realms/North`, url, `${realm}/../south`];
    for (const iss of forNorth) demandRefused(await programme.signIn("north", { iss }), iss);
  });

  test("signatures that are none, or of others, are refused", async () => {
    const { provider } = programme;
    const begun = await programme.begin();
    const claims = programme.idClaims("kenya", begun.nonce);
    const good = await provider.sign(claims);
    const { kid, alg } = decodeProtectedHeader(good);
    const jwk = provider.keys[0]?.jwk ?? {};
    const stranger = await newKey("ES256", kid);
    const macWith = (secret: string) => (input: Buffer) => createHmac("sha256", secret).update(input).digest();
    const forged = {
      "alg none": compact({ alg: "none", kid }, claims, unsigned),
      "HS256 with the public key": compact({ alg: "HS256", kid }, claims, macWith(JSON.stringify(jwk))),
      "no signature": `${good.slice(0, good.lastIndexOf("."))}.`,
      "another payload": good.replace(/\.[^.]+\./, `.${base64url(JSON.stringify({ ...claims, sub: "bilal" }))}.`),
      "a stranger's key under a known kid": await provider.sign(claims, { key: stranger }),
      "a stranger's key in the header": await provider.sign(claims, { key: stranger, header: { jwk: stranger.jwk } }),
      "the right key in the header": await provider.sign(claims, { header: { jwk } }),
      "an address of keys in the header": await provider.sign(claims, { header: { jku: `${provider.url}/jwks` } }),
      "an unknown critical header": compact({ alg, kid, crit: ["x"], x: true }, claims, unsigned),
      "a critical header, well signed": await provider.sign(claims, { header: { crit: ["b64"], b64: true } }),
      "an access token's type": await provider.sign(claims, { header: { typ: "at+jwt" } }),
      "a JWE": `${good}.x.y`,
      "no token": "x",
      dots: "..",
    };
    for (const [about, idToken] of Object.entries(forged)) {
      demandRefused(await programme.exchange("kenya", idToken, { begun }), about);
    }
    expect((await programme.exchange("kenya", good, { begun })).status, "none of these used it up").toBe(200);
  });

  test("access tokens are no ID tokens, even with the right nonce", async () => {
    for (const tenantId of ["kenya", "north"]) {
      const begun = await programme.begin();
      const token = await programme.accessToken(tenantId, { nonce: begun.nonce });
      demandRefused(await programme.exchange(tenantId, token, { begun }), tenantId);
    }
  });

  test("it is good for one exchange, on whichever of two nodes", async () => {
    for (const tenantId of ["kenya", "north"]) {
      const begun = await programme.begin();
      const idToken = await programme.provider.sign(programme.idClaims(tenantId, begun.nonce));
      const answers = await Promise.all(
        [...programme.nodes, ...programme.nodes].map((on) => programme.exchange(tenantId, idToken, { begun, on })),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401]);
      for (const answer of answers) if (answer.status !== 200) demandRefused(answer, "lost");
      // Another ID token of the same sign-in is not another sign-in.
      demandRefused(await programme.signIn(tenantId, {}, { begun }), "the nonce again");
    }
  });

  test("it is good for the key it was asked for with, and for no other tenant", async () => {
    const begun = await programme.begin();
    const idToken = await programme.provider.sign(programme.idClaims("kenya", begun.nonce));
    const thief: SignIn = { ...begun, key: await DpopKey.create() };
    demandRefused(await programme.exchange("kenya", idToken, { begun: thief }), "another key");
    demandRefused(await programme.exchange("kenya", idToken, { begun: { ...begun, salt: "A".repeat(22) } }), "salt");
    demandRefused(await programme.exchange("uganda", idToken, { begun }), "another tenant");
    demandRefused(await programme.exchange("north", idToken, { begun }), "another tenant with another provider");
    demandRefused(await programme.exchange("nowhere", idToken, { begun, type: "oidc_a" }), "no tenant");
    expect((await programme.exchange("kenya", idToken, { begun })).status).toBe(200);

    const inNorth = await programme.begin();
    const northern = await programme.provider.sign(programme.idClaims("north", inNorth.nonce));
    demandRefused(await programme.exchange("south", northern, { begun: inNorth }), "the other realm, the same key");
  });

  test("without a proof of the key there is no session", async () => {
    const { salt, nonce } = await programme.begin();
    const idToken = await programme.provider.sign(programme.idClaims("kenya", nonce));
    const body = { type: "oidc_a", idToken, salt, tenantId: "kenya" };
    const answer = await programme.node.api.call(routes.oidcExchange, { body });
    expect([answer.status, answer.body.code]).toEqual([400, "dpop_required"]);
  });

  test("a disabled worker is refused like a bad token, and so is everyone of a disabled tenant", async () => {
    const { body } = await programme.signIn("kenya", { sub: "chidi" });
    const { store } = programme.node.app.services;
    const worker = await findWorkerById(store, "kenya", body.userId);
    if (!worker) throw new Error("The worker is gone.");
    await store.transaction((tx) => disableWorker(tx, worker));
    demandRefused(await programme.signIn("kenya", { sub: "chidi" }), "disabled");

    await programme.node.addTenant("closed", programme.realm("closed"));
    await store.transaction((tx) => updateTenant(tx, "closed", { disabled: true }, { loopbackHttp: true }));
    programme.clock.advance(2);
    demandRefused(await programme.signIn("closed"), "a closed tenant");
  });

  test("a name chosen at a provider takes over no one's account", async () => {
    const { userId } = (await programme.signIn("kenya", { sub: "mallory", name: "root" })).body;
    await programme.node.addWorker({ tenantId: "kenya", username: "root", roles: ["admin"] });
    const local = await programme.node.api.login({ tenantId: "kenya", username: "root", password: goodPassword });
    expect(local.body.userId).not.toBe(userId);
    const again = await programme.signIn("kenya", { sub: "mallory", name: "root" });
    expect(again.body.userId).toBe(userId);
    expect((await programme.node.api.me(again.body.token)).body).toMatchObject({ roles: ["field-worker"] });
  });
});
