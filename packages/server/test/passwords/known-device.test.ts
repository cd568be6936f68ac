import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MovableClock } from "../kit/clock.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import { startNode, type TestNode } from "../kit/node.ts";
import { address, guess, guesses, retryAfter, signIn, startBehindProxy } from "./guess.ts";

describe.each(databases)("PW4: a known device has its own budget, on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let node: TestNode;
  const clock = new MovableClock();

  beforeAll(async () => {
    database = await fresh();
    node = await startBehindProxy({ database: database.config, clock });
    await node.addTenant("demo");
    await node.addTenant("other");
    for (const username of ["owner", "spender", "victim", "attacker", "renewed"]) await node.addWorker({ username });
    await node.addWorker({ tenantId: "other", username: "victim" });
  });
  afterAll(async () => {
    await node?.close();
    await database?.drop();
  });

  /** An attacker has the account locked, from everywhere. */
  async function lockOut(username: string): Promise<void> {
    expect(await guesses(node, 10, (turn) => ({ username, from: address(turn) }))).not.toContain(429);
    expect((await signIn(node, { username, from: "192.0.2.200" })).status).toBe(429);
  }

  test("the owner gets in while an attacker has the account locked", async () => {
    const { deviceToken } = (await signIn(node, { username: "owner" })).body;
    await lockOut("owner");
    const again = await signIn(node, { username: "owner", deviceToken });
    expect([again.status, again.body.deviceToken]).toEqual([200, deviceToken]);
    expect((await signIn(node, { username: "OWNER ", deviceToken, from: "192.0.2.9" })).status).toBe(200);
    // Getting in does not open the door for the others.
    expect((await guess(node, { username: "owner", from: "192.0.2.201" })).status).toBe(429);
    expect((await guess(node, { username: "owner", deviceToken })).status).toBe(401);
  });

  test("a stolen device token is ten guesses, wherever it is used from, and locks only itself", async () => {
    const { deviceToken } = (await signIn(node, { username: "spender" })).body;
    const stolen = (turn: number) => ({ username: "spender", deviceToken, from: address(turn % 2) });
    expect(await guesses(node, 10, stolen)).not.toContain(429);
    const refused = await guess(node, stolen(0));
    expect(refused.status).toBe(429);
    expect(retryAfter(refused)).toBeLessThanOrEqual(30);
    expect((await signIn(node, { username: "spender" })).status).toBe(200);
    clock.advance(retryAfter(refused));
    expect((await signIn(node, stolen(0))).status).toBe(200);
  });

  test("someone else's, a forged, a foreign, a mangled device token is none", async () => {
    const own = (await signIn(node, { username: "victim" })).body.deviceToken;
    const others = (await signIn(node, { username: "attacker" })).body.deviceToken;
    const sameName = (await signIn(node, { tenantId: "other", username: "victim" })).body.deviceToken;
    const [id = "", mac = ""] = own.split(".");
    await lockOut("victim");

    const foreign = await fresh();
    const elsewhere = await startNode({ database: foreign.config });
    await elsewhere.addTenant("demo");
    await elsewhere.addWorker({ username: "victim" });
    const otherDeployment = (await signIn(elsewhere, { username: "victim" })).body.deviceToken;
    await elsewhere.close();
    await foreign.drop();

    const bad = [others, sameName, otherDeployment, `${id}.${others.split(".")[1]}`, `${others.split(".")[0]}.${mac}`];
    bad.push(`${id}.${"A".repeat(43)}`, id, mac, `${own}x`, `${own}=`, `.${mac}`, `${id}.`, "null", "x".repeat(4000));
    bad.push(own.toLowerCase(), `${own},${own}`);
    for (const deviceToken of bad) {
      expect((await signIn(node, { username: "victim", deviceToken, from: "192.0.2.210" })).status, deviceToken).toBe(
        429,
      );
    }
    expect((await signIn(node, { username: "victim", deviceToken: own, from: "192.0.2.210" })).status).toBe(200);
  });

  test("a device token is forgotten after 180 days without a sign-in, and grants nothing by itself", async () => {
    const { deviceToken } = (await signIn(node, { username: "renewed" })).body;
    const day = 24 * 3600;
    clock.advance(179 * day);
    expect((await signIn(node, { username: "renewed", deviceToken })).body.deviceToken).toBe(deviceToken);
    clock.advance(179 * day);
    await lockOut("renewed");
    expect((await signIn(node, { username: "renewed", deviceToken })).status).toBe(200);
    clock.advance(181 * day);
    await lockOut("renewed");
    expect((await signIn(node, { username: "renewed", deviceToken })).status).toBe(429);
    expect((await guess(node, { username: "renewed", password: deviceToken, deviceToken })).status).toBe(429);
  });
});
