import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultPolicy } from "../../src/config/policy.ts";
import type { PasswordHasher } from "../../src/people/password-hash.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import type { TestNode } from "../kit/node.ts";
import { type Guess, guess, startBehindProxy } from "./guess.ts";
import { addStrangers } from "./strangers.ts";
import { compareTimes, spread, type Verdict } from "./verdict.ts";

/** The leak that must be found, in milliseconds; on a machine that is busy with other things, as large as its noise. */
const leakMs = 5;
/** A busy machine gets more turns before it is believed. */
const rounds = 5;
const timeout = 120_000;

/**
 * The clock on the wall is useless on a busy machine when every request computes for 30 ms. So the two parts of the time
 * are measured apart: the steps by the clock, with the comparison taken out; and the work by what the processor did.
 */
describe.each(databases)("PW3: whoever does not get in waits the same time, on $name", ({ name, fresh }) => {
  let database: FreshDatabase;
  let node: TestNode;
  let hasher: { verify: PasswordHasher["verify"] };
  let verify: PasswordHasher["verify"];
  let strangers: ReadonlyMap<string, Guess>;

  beforeAll(async () => {
    database = await fresh();
    const password = {
      ...defaultPolicy.password,
      perAddress: { ...defaultPolicy.password.perAddress, limit: 1e6 },
      perNetwork: { ...defaultPolicy.password.perNetwork, limit: 1e6 },
      perUser: { ...defaultPolicy.password.perUser, limit: 1e6 },
    };
    node = await startBehindProxy({ database: database.config, policy: { password } });
    ({ hasher } = node.app.services);
    ({ verify } = hasher);
    strangers = await addStrangers(node);
    for (let warm = 0; warm < 2; warm += 1) for (const who of strangers.values()) await refused(who);
  });
  afterAll(async () => {
    await node?.close();
    await database?.drop();
  });

  async function refused(who: Guess): Promise<void> {
    const { status, text } = await guess(node, who);
    expect(status, text).toBe(401);
  }

  async function timeOf(who: Guess): Promise<number> {
    const start = performance.now();
    await refused(who);
    return performance.now() - start;
  }

  async function workOf(who: Guess): Promise<number> {
    const start = process.cpuUsage();
    await refused(who);
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  }

  /** Compares everyone with a wrong password, in turns. Where a verdict surprises, more turns are taken. */
  async function findLeaks(
    measure: (who: Guess) => Promise<number>,
    turns: number,
    leak: number,
  ): Promise<Map<string, Verdict>> {
    const planted: [string, Guess] = ["planted", { username: "nobody-at-all", password: "planted" }];
    const all = [...strangers, planted];
    const taken = new Map(all.map(([name]) => [name, [] as number[]]));
    const verdicts = new Map<string, Verdict>();
    for (let round = 0; round < rounds; round += 1) {
      for (let turn = 0; turn < turns; turn += 1) {
        // Who comes first changes, so that what one request leaves to the next is shared.
        const from = turn % all.length;
        for (const [name, who] of [...all.slice(from), ...all.slice(0, from)])
          taken.get(name)?.push(await measure(who));
      }
      for (const [name, b] of taken)
        verdicts.set(name, compareTimes({ a: taken.get("wrong password") ?? [], b }, leak / 2));
      const expected = [...verdicts].every(([name, { differ }]) => differ === (name === "planted"));
      if (expected) break;
    }
    return new Map([...verdicts].filter(([, { differ }]) => differ));
  }

  function expectOnlyThePlanted(leaks: ReadonlyMap<string, Verdict>): void {
    expect(Object.fromEntries(leaks)).toEqual({ planted: expect.objectContaining({ differ: true }) });
    expect(leaks.get("planted")?.difference).toBeGreaterThan(0);
  }

  test("the same steps; a planted wait of 5 ms is found", { timeout }, async () => {
    let leak = leakMs;
    hasher.verify = async (_hash, password) => {
      if (password === "planted") await sleep(leak);
      return false;
    };
    try {
      const usual: number[] = [];
      for (let turn = 0; turn < 40; turn += 1) usual.push(await timeOf({ username: "wrong-password" }));
      leak = Math.max(leakMs, spread(usual));
      expectOnlyThePlanted(await findLeaks(timeOf, 24, leak));
    } finally {
      hasher.verify = verify;
    }
  });

  // No database takes part in the work.
  if (name !== "sqlite") return;
  test("the same work; planted work of 5 ms is found", { timeout }, async () => {
    hasher.verify = (hash, password, lane) => {
      const until = process.cpuUsage().user + leakMs * 1000;
      while (password === "planted" && process.cpuUsage().user < until);
      return verify(hash, password, lane);
    };
    try {
      expectOnlyThePlanted(await findLeaks(workOf, 14, leakMs));
    } finally {
      hasher.verify = verify;
    }
  });
});
