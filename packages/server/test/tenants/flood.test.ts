import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PasswordHasher } from "../../src/people/password-hash.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import type { TestNode } from "../kit/node.ts";
import { address, guess, guesses, signIn, startBehindProxy, times } from "../passwords/guess.ts";

describe.each(databases)("TEN1: one tenant's flood is that tenant's, on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let node: TestNode;

  beforeAll(async () => {
    database = await fresh();
    node = await startBehindProxy({ database: database.config });
    for (const id of ["flooded", "calm"]) {
      await node.addTenant(id);
      for (const username of ["amina", "badu"]) await node.addWorker({ tenantId: id, username });
    }
  });
  afterAll(async () => {
    await node?.close();
    await database?.drop();
  });

  test("budgets of one name are counted apart", async () => {
    const inFlooded = (turn: number) => ({ tenantId: "flooded", username: "badu", from: address(turn) });
    expect(await guesses(node, 10, inFlooded)).not.toContain(429);
    expect((await signIn(node, inFlooded(20))).status).toBe(429);
    expect((await signIn(node, { tenantId: "calm", username: "badu", from: address(0) })).status).toBe(200);
    expect(await guesses(node, 5, () => ({ tenantId: "calm", username: "badu", from: address(0) }))).not.toContain(429);
  });

  test("while one tenant's queue of passwords runs over, people of the other are next", async () => {
    const overtaken = watchTheQueue("calm");
    let over = false;
    let sent = 0;
    const answered: number[] = [];
    /** Always 90 under way: more than the cores and the queue can hold. */
    async function flood(): Promise<void> {
      while (!over) {
        const who = { tenantId: "flooded", username: `crowd-${sent++}`, from: address(sent % 9) };
        const { status } = await guess(node, who);
        answered.push(status);
        if (status === 503) await sleep(100);
      }
    }
    const flooding = times(90, flood);
    try {
      await expect.poll(() => answered, { timeout: 20_000 }).toContain(503);
      for (let turn = 0; turn < 6; turn += 1) {
        const { status, text } = await signIn(node, { tenantId: "calm", username: "amina", from: address(100 + turn) });
        expect(status, text).toBe(200);
      }
    } finally {
      over = true;
      await Promise.all(flooding);
    }
    // Whoever is at it or at hand finishes, and perhaps one turn more: not the 64 that wait.
    expect(overtaken.length).toBe(6);
    for (const count of overtaken) expect(count).toBeLessThanOrEqual(4 * availableParallelism() + 2);
  }, 120_000);

  /** For each comparison of a tenant: how many of the others' were finished while it waited for its turn. */
  function watchTheQueue(tenantId: string): readonly number[] {
    const hasher = node.app.services.hasher as { verify: PasswordHasher["verify"] };
    const { verify } = hasher;
    const overtaken: number[] = [];
    let finished = 0;
    hasher.verify = async (hash, password, lane) => {
      const before = finished;
      const matches = await verify(hash, password, lane);
      if (lane?.[0] === tenantId) overtaken.push(finished - before);
      else finished += 1;
      return matches;
    };
    return overtaken;
  }
});
