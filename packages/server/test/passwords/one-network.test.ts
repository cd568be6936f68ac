import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultPolicy } from "../../src/config/policy.ts";
import { addWorker } from "../../src/people/workers.ts";
import { MovableClock } from "../kit/clock.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import { goodPassword, type TestNode } from "../kit/node.ts";
import { countComparisons, guess, guesses, retryAfter, signIn, startBehindProxy, times } from "./guess.ts";

/** As `defaultPolicy`, with room for another number of failures from one network. */
const failuresPerNetwork = (limit: number) => ({
  password: { ...defaultPolicy.password, perNetwork: { ...defaultPolicy.password.perNetwork, limit } },
});

describe.each(databases)("PW4: one password on many names, from one network, on $name", ({ fresh }) => {
  const limit = 12;
  let database: FreshDatabase;
  let node: TestNode;
  const clock = new MovableClock();

  beforeAll(async () => {
    expect(defaultPolicy.password.perNetwork).toEqual({ limit: 100, window: 300 });
    database = await fresh();
    node = await startBehindProxy({ database: database.config, clock, policy: failuresPerNetwork(limit) });
    await node.addTenant("demo", { sharedNetworks: ["198.51.100.0/24"] });
    await node.addTenant("other");
    for (const username of ["amina", "badu"]) await node.addWorker({ username });
    await node.addWorker({ tenantId: "other", username: "amina" });
  });
  afterAll(async () => {
    await node?.close();
    await database?.drop();
  });

  /** As many as a network may, and twice as many more. */
  async function spray(from: string, tenantId = "demo") {
    const one = (turn: number) => guess(node, { username: `name-${turn}`, from, tenantId });
    const first = await Promise.all(times(limit, one));
    return [...first, ...(await Promise.all(times(2 * limit, (turn) => one(limit + turn))))];
  }

  test("closes the network before anything is compared; known devices, shared ranges and others stay open", async () => {
    const from = "192.0.2.1";
    const own = (await signIn(node, { username: "amina" })).body.deviceToken;
    const anothers = (await signIn(node, { username: "badu" })).body.deviceToken;
    const foreign = (await signIn(node, { username: "amina", tenantId: "other" })).body.deviceToken;
    const comparisons = countComparisons(node);
    const answers = await spray(from);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(limit);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2 * limit);
    expect(comparisons()).toBe(limit);

    const refused = await signIn(node, { username: "amina", from });
    expect([refused.status, refused.body.code]).toEqual([429, "too_many_attempts"]);
    expect(retryAfter(refused)).toBeGreaterThan(250);
    expect(retryAfter(refused)).toBeLessThanOrEqual(300);
    expect((await signIn(node, { username: "amina", from, deviceToken: foreign })).status).toBe(429);
    expect(comparisons()).toBe(limit);

    expect((await signIn(node, { username: "amina", from, deviceToken: own })).status).toBe(200);
    expect((await signIn(node, { username: "amina", from, deviceToken: anothers })).status).toBe(200);
    expect((await signIn(node, { username: "amina", from: "192.0.2.2" })).status).toBe(200);
    expect((await signIn(node, { username: "amina", from, tenantId: "other" })).status).toBe(200);

    clock.advance(retryAfter(refused));
    expect((await signIn(node, { username: "amina", from })).status).toBe(200);
  });

  test("a worker's device has as many guesses at others as a network, wherever it is", async () => {
    const { deviceToken } = (await signIn(node, { username: "badu" })).body;
    const at = (turn: number) => ({ username: `name-${turn}`, deviceToken, from: `192.0.3.${turn}` });
    expect(await guesses(node, limit, at)).not.toContain(429);
    expect((await guess(node, at(99))).status).toBe(429);
    expect((await signIn(node, { username: "badu", deviceToken })).status).toBe(200);
  });

  test("an IPv6 subscriber is one network, a range that the tenant knows is none, unknown tenants are one tenant", async () => {
    await spray("2001:db8:1:2::1");
    expect((await signIn(node, { username: "amina", from: "2001:db8:1:2:ffff::9" })).status).toBe(429);
    expect((await signIn(node, { username: "amina", from: "2001:db8:1:3::1" })).status).toBe(200);
    expect((await spray("198.51.100.7")).map(({ status }) => status)).not.toContain(429);
    expect((await signIn(node, { username: "amina", from: "198.51.100.7" })).status).toBe(200);
    await spray("192.0.2.9", "nowhere");
    expect((await guess(node, { username: "amina", from: "192.0.2.9", tenantId: "elsewhere" })).status).toBe(429);
  });
});

describe.each(databases)("PW4: honest people behind one address, on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let node: TestNode;
  const people = 100;

  beforeAll(async () => {
    database = await fresh();
    node = await startBehindProxy({ database: database.config });
    await node.addTenant("demo", { sharedNetworks: ["198.51.100.0/24"] });
    const { store, hasher } = node.app.services;
    const passwordHash = await hasher.hash(goodPassword);
    await store.transaction(async (tx) => {
      for (let index = 0; index < people; index += 1) {
        const username = `person-${index}`;
        await addWorker(tx, { tenantId: "demo", username, passwordHash, roles: ["field-worker"] });
      }
    });
  });
  afterAll(async () => {
    await node?.close();
    await database?.drop();
  });

  /** Ten at a time, as each of them would alone. */
  async function byTens(count: number, one: (index: number) => Promise<void>): Promise<void> {
    for (let first = 0; first < count; first += 10) await Promise.all(times(10, (offset) => one(first + offset)));
  }

  test("100 of them, 5 % with a typo, all get in", async () => {
    await byTens(people, async (index) => {
      const who = { username: `person-${index}`, from: "192.0.2.50" };
      if (index % 20 === 7) expect((await guess(node, who)).status).toBe(401);
      expect((await signIn(node, who)).status).toBe(200);
    });
  }, 60_000);

  test("in a range that the tenant knows they may make the typos of 2,000, and more than a network may, and get in", async () => {
    await byTens(110, async (index) => {
      const who = { username: `person-${index % people}`, from: "198.51.100.9" };
      expect((await guess(node, who)).status).toBe(401);
      if (index >= people) expect((await signIn(node, who)).status).toBe(200);
    });
  }, 60_000);
});

describe.each(databases)("PW2: a flood from one address, on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let node: TestNode;

  beforeAll(async () => {
    database = await fresh();
    // No ceiling: it is the turns alone that keep the others' way open.
    node = await startBehindProxy({ database: database.config, policy: failuresPerNetwork(100_000) });
    await node.addTenant("demo");
    for (const username of ["amina", "badu"]) await node.addWorker({ username });
  });
  afterAll(async () => {
    await node?.close();
    await database?.drop();
  });

  test("keeps out nobody of the same tenant: neither a known device nor a stranger elsewhere", async () => {
    const { deviceToken } = (await signIn(node, { username: "amina" })).body;
    let over = false;
    let sent = 0;
    const answered: number[] = [];
    /** Always 100 under way: more than the cores and the queue can hold. */
    async function flood(): Promise<void> {
      while (!over) {
        const { status } = await guess(node, { username: `crowd-${sent++}`, from: "192.0.2.66" });
        answered.push(status);
        if (status === 503) await sleep(100);
      }
    }
    const flooding = times(100, flood);
    try {
      await expect.poll(() => answered, { timeout: 20_000 }).toContain(503);
      for (let turn = 0; turn < 4; turn += 1) {
        const owner = await signIn(node, { username: "amina", from: "192.0.2.70", deviceToken });
        expect(owner.status, owner.text).toBe(200);
        const stranger = await signIn(node, { username: "badu", from: "192.0.2.71" });
        expect(stranger.status, stranger.text).toBe(200);
      }
    } finally {
      over = true;
      await Promise.all(flooding);
    }
  }, 120_000);
});
