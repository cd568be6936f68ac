import { availableParallelism } from "node:os";
import { routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultPolicy } from "../../src/config/policy.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import { goodPassword, type TestNode } from "../kit/node.ts";
import { guess, guesses, retryAfter, signIn, startBehindProxy, times } from "./guess.ts";

const queue = 8;

describe.each(databases)("PW2: more passwords than the cores can take, on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let node: TestNode;
  let token: string;

  beforeAll(async () => {
    expect(defaultPolicy.password.queue).toBe(64);
    database = await fresh();
    node = await startBehindProxy({
      database: database.config,
      policy: { password: { ...defaultPolicy.password, queue } },
    });
    await node.addTenant("demo");
    await node.addWorker({ username: "amina" });
    ({ token } = (await node.api.login({ username: "amina", password: goodPassword })).body);
  });
  afterAll(async () => {
    await node?.close();
    await database?.drop();
  });

  test("the queue ends in a 503 with Retry-After, everything else stays fast, and nobody loses a try", async () => {
    let over = false;
    const others: number[] = [];
    async function askOthers(): Promise<void> {
      while (!over) {
        const start = performance.now();
        const [health, check] = await Promise.all([node.api.call(routes.health), node.api.checkToken(token)]);
        expect([health.status, check.status]).toEqual([200, 200]);
        others.push(performance.now() - start);
      }
    }
    const watching = askOthers();
    const crowd = await Promise.all(times(60, (turn) => guess(node, { username: `crowd-${turn}` })));
    over = true;
    await watching;

    const busy = crowd.filter(({ status }) => status === 503);
    const refused = crowd.filter(({ status }) => status === 401);
    expect(busy.length + refused.length).toBe(crowd.length);
    expect(busy.length).toBeGreaterThan(0);
    expect(refused.length).toBeGreaterThanOrEqual(queue + availableParallelism());
    for (const answer of busy) {
      expect(answer.body.code).toBe("busy");
      expect(retryAfter(answer)).toBeGreaterThanOrEqual(1);
    }
    // Generous, for a machine that does much else; a check that waited for the queue would take as long as all of it.
    const sorted = others.toSorted((a, b) => a - b);
    expect(sorted[sorted.length >> 1]).toBeLessThan(200);

    // What came to no verdict was no failure, and the queue is free again.
    const turnedAway = `crowd-${crowd.findIndex(({ status }) => status === 503)}`;
    expect(await guesses(node, 6, () => ({ username: turnedAway }))).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await signIn(node, { username: "amina" })).status).toBe(200);
  });
});
