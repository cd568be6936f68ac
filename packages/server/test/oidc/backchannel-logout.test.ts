import { randomUUID } from "node:crypto";
import { routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databases } from "../kit/databases.ts";
import type { TestNode } from "../kit/node.ts";
import { withoutInstance } from "../tokens/every-check.ts";
import type { Claims } from "./little-provider.ts";
import { Programme } from "./programme.ts";

const event = "http://schemas.openid.net/event/backchannel-logout";

describe.each(databases)("a provider ends its session, on $name", (database) => {
  let programme: Programme;

  beforeAll(async () => {
    programme = await Programme.start(database, { nodes: 2 });
  });
  afterAll(() => programme?.close());

  const logoutClaims = (tenantId: string): Claims => {
    const { iss } = programme.idClaims(tenantId, "");
    const iat = programme.provider.seconds;
    return { iss, aud: "app", iat, exp: iat + 120, jti: randomUUID(), events: { [event]: {} } };
  };

  const post = async (fields: Record<string, string>, on: TestNode = programme.node) => {
    const response = await fetch(`${on.url}${routes.backchannelLogout.path}`, {
      method: "POST",
      body: new URLSearchParams(fields),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  const logout = async (tenantId: string, claims: Claims, header: Claims = { typ: "logout+jwt" }) =>
    post({ logout_token: await programme.provider.sign({ ...logoutClaims(tenantId), ...claims }, { header }) });

  const codeOf = async (token: string, node = programme.node) => (await node.api.checkToken(token)).body.code;

  test.each(["kenya", "north"])("by its sid: the sessions from it end, others stay, in %s", async (tenantId) => {
    const sub = `by-sid-${tenantId}`;
    const begun = await programme.begin();
    const ended = (await programme.signIn(tenantId, { sub, sid: "one" }, { begun })).body;
    const kept = (await programme.signIn(tenantId, { sub, sid: "two" })).body;
    const bearer = await programme.accessToken(tenantId, { sub, sid: "one" });
    const unseen = await programme.accessToken(tenantId, { sub, sid: "one", jti: "unseen" });
    const later = await programme.accessToken(tenantId, { sub, sid: "two" });
    const nameless = await programme.accessToken(tenantId, { sub, sid: undefined });
    const unseenNameless = await programme.accessToken(tenantId, { sub, sid: undefined, jti: "unseen" });
    for (const token of [ended.token, bearer, nameless]) expect(await codeOf(token)).toBeUndefined();

    const answer = await logout(tenantId, { sub, sid: "one" });
    expect([answer.status, answer.text]).toEqual([200, ""]);
    expect(answer.headers.get("cache-control")).toBe("no-store");

    const gone = [ended.token, bearer, unseen, nameless, unseenNameless];
    for (const token of gone) expect(await codeOf(token)).toBe("session_revoked");
    const refreshed = await programme.node.api.refresh(ended.refreshToken, { key: begun.key });
    expect(refreshed.body.code).toBe("session_revoked");
    for (const token of [kept.token, later]) expect(await codeOf(token)).toBeUndefined();
    const late = await programme.signIn(tenantId, { sub, sid: "one" });
    expect(late.body.code, "an ID token of that session that comes late").toBe("invalid_token");
  });

  test("by a token whose times have fractions", async () => {
    const { token } = (await programme.signIn("kenya", { sub: "fraction", sid: "f" })).body;
    const answer = await logout("kenya", { sub: "fraction", sid: "f", iat: programme.provider.seconds - 0.5 });
    expect([answer.status, answer.text]).toEqual([200, ""]);
    expect(await codeOf(token)).toBe("session_revoked");
  });

  test("by its person alone: everything issued until then ends, what comes later does not", async () => {
    const sub = "by-sub";
    const { token } = (await programme.signIn("north", { sub, sid: "x" })).body;
    const bearer = await programme.accessToken("north", { sub, sid: undefined });
    const unseen = await programme.accessToken("north", { sub, sid: undefined, jti: "unseen" });
    const elsewhere = (await programme.signIn("south", { sub, sid: "x" })).body;
    expect(await codeOf(bearer)).toBeUndefined();
    expect((await logout("north", { sub })).status).toBe(200);
    for (const each of [token, bearer, unseen]) expect(await codeOf(each)).toBe("session_revoked");
    expect(await codeOf(elsewhere.token), "the other realm's person of that name").toBeUndefined();
    programme.clock.advance(2);
    expect((await programme.signIn("north", { sub })).status).toBe(200);
    expect(await codeOf(await programme.accessToken("north", { sub }))).toBeUndefined();
  });

  test("tenants that share the client are all told", async () => {
    const sub = "shared";
    const sessions = [
      await programme.signIn("kenya", { sub, sid: "s" }),
      await programme.signIn("uganda", { sub, sid: "s" }),
    ];
    expect((await logout("kenya", { sid: "s" })).status).toBe(200);
    for (const { body } of sessions) expect(await codeOf(body.token)).toBe("session_revoked");
  });

  test("someone who never came here has nothing to end, and a worker's password session stays", async () => {
    expect((await logout("north", { sub: "never-seen" })).status).toBe(200);
    await programme.node.addWorker({ tenantId: "north", username: "local" });
    const local = await programme.node.api.login({
      tenantId: "north",
      username: "local",
      password: "walnut-harbour-seventeen",
    });
    expect((await logout("north", { sub: "local" })).status).toBe(200);
    expect(await codeOf(local.body.token)).toBeUndefined();
  });

  test("a token that is not a logout of ours is a 400, always the same", async () => {
    const { token } = (await programme.signIn("north", { sub: "victim", sid: "v" })).body;
    const named = { sub: "victim", sid: "v" };
    const now = programme.provider.seconds;
    const wrong: [string, Claims, Claims?][] = [
      ["a nonce", { ...named, nonce: "n" }],
      ["no events", { ...named, events: undefined }],
      ["another event", { ...named, events: { "http://example.org/other": {} } }],
      ["an event that is no object", { ...named, events: { [event]: true } }],
      ["events that are a list", { ...named, events: [event] }],
      ["nobody", {}],
      ["a sid that is no text", { ...named, sid: 7 }],
      ["another client", { ...named, aud: "another" }],
      ["no jti", { ...named, jti: undefined }],
      ["no iat", { ...named, iat: undefined }],
      ["too old", { ...named, iat: now - 400, exp: undefined }],
      ["expired", { ...named, exp: now - 61 }],
      ["from the future", { ...named, iat: now + 120 }],
      ["another issuer", { ...named, iss: "https://other.example" }],
      [
        "the other realm, with the same key, for someone there",
        { ...named, iss: `${programme.provider.url}/realms/x` },
      ],
      ["an access token's type", named, { typ: "at+jwt" }],
      ["an unknown key", named, { kid: "unknown" }],
    ];
    const answers = new Set<string>();
    for (const [about, claims, header] of wrong) {
      const answer = await logout("north", claims, header ?? {});
      expect(answer.status, `${about}: ${answer.text}`).toBe(400);
      answers.add(withoutInstance(answer.text));
    }
    const idToken = await programme.provider.sign({ ...programme.idClaims("north", "n"), ...named });
    for (const logout_token of [idToken, "x", "a.b.c"]) {
      answers.add(withoutInstance((await post({ logout_token })).text));
    }
    expect(answers.size).toBe(1);
    expect(await codeOf(token)).toBeUndefined();
  });

  test("it works once, on whichever node", async () => {
    const claims = { ...logoutClaims("north"), sub: "once", sid: "o" };
    const logout_token = await programme.provider.sign(claims);
    const answers = await Promise.all([...programme.nodes, ...programme.nodes].map((on) => post({ logout_token }, on)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400]);
  });

  test("only a form is read", async () => {
    const url = `${programme.node.url}${routes.backchannelLogout.path}`;
    const send = (body: string, type: string) =>
      fetch(url, { method: "POST", body, headers: { "content-type": type } }).then(({ status }) => status);
    expect(await send('{"logout_token":"x"}', "application/json")).toBe(415);
    const form = "application/x-www-form-urlencoded";
    for (const body of [
      "",
      "logout_token=",
      "logout_token=x&logout_token=y",
      "logout_token=x&more=y",
      "logout_token=%00",
    ]) {
      expect(await send(body, form), body).toBe(400);
    }
    const login = `${programme.node.url}${routes.login.path}`;
    const asForm = await fetch(login, { method: "POST", body: new URLSearchParams({ username: "a", password: "b" }) });
    expect(asForm.status, "and nowhere else").toBe(415);
  });
});
