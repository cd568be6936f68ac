import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import type { TestNode } from "../kit/node.ts";
import { address, countComparisons, guess, signIn, startBehindProxy, times } from "./guess.ts";

const tally = (answers: readonly { readonly status: number }[]) =>
  Object.fromEntries(
    Map.groupBy(answers, ({ status }) => status)
      .entries()
      .map(([status, all]) => [status, all.length]),
  );

/**
 * At most `limit` guesses get a verdict, and no more are compared; exactly so many, unless the machine is so busy that
 * some got none.
 */
function demandBudget(answers: readonly { readonly status: number }[], comparisons: number, limit: number): void {
  const { 401: wrong = 0, 429: refused = 0, 503: unanswered = 0 } = tally(answers) as Record<number, number>;
  expect(wrong + refused + unanswered).toBe(answers.length);
  expect(wrong).toBeLessThanOrEqual(limit);
  expect(comparisons).toBeLessThanOrEqual(limit);
  if (unanswered === 0) expect([wrong, comparisons]).toEqual([limit, limit]);
}

describe.each(databases)("PW4: budgets hold under parallel requests, on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let node: TestNode;

  beforeAll(async () => {
    database = await fresh();
    node = await startBehindProxy({ database: database.config });
    await node.addTenant("demo");
    for (const username of ["here", "everywhere", "mixed", "honest"]) await node.addWorker({ username });
  });
  afterAll(async () => {
    await node?.close();
    await database?.drop();
  });

  test("200 guesses at once from one address: five are compared", async () => {
    const comparisons = countComparisons(node);
    const answers = await Promise.all(times(200, () => guess(node, { username: "here" })));
    demandBudget(answers, comparisons(), 5);
  });

  test("200 guesses at once from 200 addresses: ten are compared", async () => {
    const comparisons = countComparisons(node);
    const answers = await Promise.all(
      times(200, (turn) => guess(node, { username: "everywhere", from: address(turn) })),
    );
    demandBudget(answers, comparisons(), 10);
  });

  test("200 guesses at somebody who does not exist are counted the same", async () => {
    const comparisons = countComparisons(node);
    const answers = await Promise.all(times(200, () => guess(node, { username: "nobody" })));
    demandBudget(answers, comparisons(), 5);
  });

  test("a right password among the guesses is never called wrong, and opens no room for more", async () => {
    const comparisons = countComparisons(node);
    const turns = times(100, (turn) => (turn % 25 === 3 ? signIn : guess)(node, { username: "mixed" }));
    const answers = await Promise.all(turns);
    const right = answers.filter((_, turn) => turn % 25 === 3);
    const wrong = answers.filter((_, turn) => turn % 25 !== 3);
    expect(right.map(({ status }) => status).filter((status) => status !== 200 && status !== 429)).toEqual([]);
    expect(wrong.filter(({ status }) => status === 401).length).toBe(5);
    expect(wrong.filter(({ status }) => status === 429).length).toBe(wrong.length - 5);
    expect(comparisons()).toBeLessThanOrEqual(5 + right.length);
  });

  test("an honest burst passes: 30 right passwords at once are 30 sessions", async () => {
    const answers = await Promise.all(times(30, () => signIn(node, { username: "honest" })));
    expect(tally(answers)).toEqual({ 200: 30 });
    expect(new Set(answers.map(({ body }) => body.refreshToken)).size).toBe(30);
    // Nothing is left behind that would count against anyone.
    const after = await Promise.all(times(5, () => guess(node, { username: "honest" })));
    expect(tally(after)).toEqual({ 401: 5 });
  });
});
