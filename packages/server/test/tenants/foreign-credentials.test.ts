import { createHash } from "node:crypto";
import { routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import { DpopKey } from "../kit/dpop-key.ts";
import { goodPassword, startNode, type TestNode } from "../kit/node.ts";
import { sendRaw } from "./raw-request.ts";

const passwordOfB = "quiet-lantern-forty-two";

describe.each(databases)("TEN1: nothing of one tenant does anything in another, on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let node: TestNode;

  beforeAll(async () => {
    database = await fresh();
    node = await startNode({ database: database.config, config: { defaultTenant: "b" } });
    await node.addTenant("a", { hosts: ["a.example.org"] });
    await node.addTenant("b", { hosts: ["b.example.org"] });
    await node.addWorker({ tenantId: "a", username: "amina" });
    await node.addWorker({ tenantId: "a", username: "only-in-a" });
    await node.addWorker({ tenantId: "b", username: "amina", password: passwordOfB });
  });
  afterAll(async () => {
    await node?.close();
    await database?.drop();
  });

  const signInToA = async () =>
    (await node.api.login({ tenantId: "a", username: "amina", password: goodPassword })).body;

  /** Every way to say that a request is for tenant B. */
  const saysB: readonly [string, { body?: object; headers?: Record<string, string> }][] = [
    ["body", { body: { tenantId: "b" } }],
    ["header", { headers: { "x-tenant-id": "b" } }],
    ["host", { headers: { host: "b.example.org" } }],
    ["all", { body: { tenantId: "b" }, headers: { "x-tenant-id": "b", host: "b.example.org" } }],
  ];

  const post = (path: string, fields: object, way: { body?: object; headers?: Record<string, string> }) =>
    sendRaw(node.url, {
      method: "POST",
      path,
      headers: { "content-type": "application/json", ...way.headers },
      body: JSON.stringify({ ...fields, ...way.body }),
    });

  test("a worker of A is nobody in B, whatever B's own people are called", async () => {
    for (const [name, way] of saysB) {
      for (const username of ["amina", "only-in-a"]) {
        const answer = await post(routes.login.path, { username, password: goodPassword }, way);
        expect(answer.body?.code, name).toBe("invalid_credentials");
      }
      const own = await post(routes.login.path, { username: "amina", password: passwordOfB }, way);
      expect(own.body?.tenantId, name).toBe("b");
    }
    const inA = await node.api.login({ tenantId: "a", username: "amina", password: passwordOfB });
    expect(inA.body.code).toBe("invalid_credentials");
  });

  test("A's refresh token is no refresh token in B, and is not harmed by the try", async () => {
    const { refreshToken } = await signInToA();
    for (const [name, way] of saysB) {
      const answer = await post(routes.refresh.path, { refreshToken }, way);
      expect([answer.status, answer.body?.code], name).toEqual([401, "invalid_grant"]);
    }
    const key = await DpopKey.create();
    const bound = await node.api.login({ tenantId: "a", username: "amina", password: goodPassword }, { key });
    const foreign = await node.api.refresh(bound.body.refreshToken, { key, headers: { "x-tenant-id": "b" } });
    expect(foreign.body.code).toBe("invalid_grant");
    expect((await node.api.refresh(bound.body.refreshToken, { key })).body.tenantId).toBe("a");
    expect((await node.api.refresh(refreshToken, { headers: { "x-tenant-id": "a" } })).body.tenantId).toBe("a");
  });

  test("A's session cannot be ended by way of B", async () => {
    const { token, refreshToken } = await signInToA();
    const refreshTokenHash = createHash("sha256").update(refreshToken).digest("hex");
    for (const [name, way] of saysB) {
      for (const fields of [{ refreshToken }, { refreshTokenHash }]) {
        expect((await post(routes.logout.path, fields, way)).status, name).toBe(204);
      }
    }
    expect((await node.api.checkToken(token)).status).toBe(200);
    expect((await node.api.logout({ body: { refreshTokenHash, tenantId: "a" } })).status).toBe(204);
    expect((await node.api.checkToken(token)).body.code).toBe("session_revoked");
  });

  test("A's token says A, wherever it is shown", async () => {
    const { token } = await signInToA();
    const headers = { authorization: `Bearer ${token}` };
    for (const [name, way] of saysB) {
      const all = { ...headers, ...way.headers };
      const check = await sendRaw(node.url, { method: "GET", path: routes.checkToken.path, headers: all });
      const me = await sendRaw(node.url, { method: "GET", path: routes.me.path, headers: all });
      expect([check.body?.tenantId, me.body?.tenantId], name).toEqual(["a", "a"]);
    }
    const asB = await node.api.login({ tenantId: "b", username: "amina", password: passwordOfB });
    const [subjectA, subjectB] = [await node.api.checkToken(token), await node.api.checkToken(asB.body.token)];
    expect(subjectA.body.subject).not.toBe(subjectB.body.subject);
    expect(subjectB.body.tenantId).toBe("b");
  });

  test("tokens of two tenants in one logout end neither", async () => {
    const a = await signInToA();
    const b = (await node.api.login({ tenantId: "b", username: "amina", password: passwordOfB })).body;
    const mixed = await node.api.logout({ token: a.token, body: { refreshToken: b.refreshToken } });
    expect(mixed.status).toBe(400);
    for (const { token } of [a, b]) expect((await node.api.checkToken(token)).status).toBe(200);
  });
});
