import { routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databases } from "../kit/databases.ts";
import { DpopKey } from "../kit/dpop-key.ts";
import { goodPassword, startNode, type TestNode } from "../kit/node.ts";

describe.each(databases)("a worker's day on $name", ({ fresh }) => {
  let node: TestNode;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const database = await fresh();
    drop = database.drop;
    node = await startNode({ database: database.config });
    await node.addTenant("demo");
    await node.addWorker({ username: "Amina", roles: ["field-worker", "supervisor"] });
  });
  afterAll(async () => {
    await node?.close();
    await drop?.();
  });

  test("sign in, check, who am I, refresh, log out", async () => {
    const key = await DpopKey.create();
    const login = await node.api.login({ username: "amina", password: goodPassword }, { key });
    expect(login.status, login.text).toBe(200);
    const { token, refreshToken, deviceToken } = login.body;
    expect(login.body).toMatchObject({ username: "Amina", tenantId: "demo", tokenType: "Bearer", expiresIn: 600 });

    const check = await node.api.checkToken(token);
    expect(check.body).toMatchObject({ valid: true, provider: "password", username: "Amina", tenantId: "demo" });
    const stored = await node.api.call(routes.checkStoredToken, { body: { token } });
    const { expiresIn: _, ...verdict } = check.body;
    expect(stored.body).toMatchObject(verdict);

    const me = await node.api.me(token);
    expect(me.body).toMatchObject({ username: "Amina", kind: "field-worker", roles: ["field-worker", "supervisor"] });

    const refreshed = await node.api.refresh(refreshToken, { key });
    expect(refreshed.status, refreshed.text).toBe(200);
    expect(refreshed.body.refreshToken).not.toBe(refreshToken);
    expect(refreshed.body.deviceToken).toBe(deviceToken);

    expect((await node.api.logout({ token: refreshed.body.token })).status).toBe(204);
    for (const gone of [token, refreshed.body.token]) {
      expect((await node.api.checkToken(gone)).body.code).toBe("session_revoked");
    }
    expect((await node.api.refresh(refreshed.body.refreshToken, { key })).body.code).toBe("session_revoked");
  });
});
