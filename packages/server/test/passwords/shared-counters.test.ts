import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import type { TestNode } from "../kit/node.ts";
import { address, countComparisons, guess, guesses, signIn, startBehindProxy, times } from "./guess.ts";

describe.each(databases)("PW4: one count for all nodes, kept over restarts, on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let nodes: TestNode[];

  async function start(): Promise<TestNode> {
    const node = await startBehindProxy({ database: database.config });
    nodes.push(node);
    return node;
  }

  beforeEach(async () => {
    nodes = [];
    database = await fresh();
  });
  afterEach(async () => {
    for (const node of nodes) await node.close();
    await database.drop();
  });

  test("two nodes spend one budget, also at the same moment; either of them honours the other's device", async () => {
    const [a, b] = [await start(), await start()];
    await a.addTenant("demo");
    for (const username of ["amina", "badu", "chidi"]) await a.addWorker({ username });
    const { deviceToken } = (await signIn(a, { username: "amina" })).body;

    const pick = (turn: number) => (turn % 2 === 0 ? a : b);
    for (let turn = 0; turn < 10; turn += 1) {
      expect((await guess(pick(turn), { username: "amina", from: address(turn) })).status).toBe(401);
    }
    for (const node of [a, b]) expect((await signIn(node, { username: "amina", from: "192.0.2.1" })).status).toBe(429);
    expect((await signIn(b, { username: "amina", deviceToken })).status).toBe(200);

    const counts = [countComparisons(a), countComparisons(b)];
    const burst = await Promise.all(times(60, (turn) => guess(pick(turn), { username: "badu", from: address(turn) })));
    expect(burst.filter(({ status }) => status === 401).length).toBe(10);
    expect(burst.filter(({ status }) => status === 429).length).toBe(50);
    expect(counts.reduce((sum, count) => sum + count(), 0)).toBe(10);

    const honest = await Promise.all(times(16, (turn) => signIn(pick(turn), { username: "chidi" })));
    expect(new Set(honest.map(({ status }) => status))).toEqual(new Set([200]));
  });

  test("a restart forgets nothing", async () => {
    const before = await start();
    await before.addTenant("demo");
    await before.addWorker({ username: "amina" });
    const { deviceToken, token } = (await signIn(before, { username: "amina" })).body;
    expect(await guesses(before, 10, (turn) => ({ username: "amina", from: address(turn) }))).not.toContain(429);
    expect(await guesses(before, 5, () => ({ username: "nobody", from: "192.0.2.1" }))).not.toContain(429);
    nodes.pop();
    await before.close();

    const after = await start();
    expect((await signIn(after, { username: "amina", from: "192.0.2.2" })).status).toBe(429);
    expect((await guess(after, { username: "nobody", from: "192.0.2.1" })).status).toBe(429);
    expect((await signIn(after, { username: "amina", deviceToken })).status).toBe(200);
    expect(token).toContain(".");
  });
});
