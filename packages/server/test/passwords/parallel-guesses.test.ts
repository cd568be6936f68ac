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
    expect(tally(answers)).toEqual({ 401: 5, 429: 195 });
    expect(comparisons()).toBe(5);
  });

  test("200 guesses at once from 200 addresses: ten are compared", async () => {
    const comparisons = countComparisons(node);
    const answers = await Promise.all(
      times(200, (turn) => guess(node, { username: "everywhere", from: address(turn) })),
    );
    expect(tally(answers)).toEqual({ 401: 10, 429: 190 });
    expect(comparisons()).toBe(10);
  });

  test("200 guesses at somebody who does not exist are counted the same", async () => {
    const comparisons = countComparisons(node);
    const answers = await Promise.all(times(200, () => guess(node, { username: "nobody" })));
    expect(tally(answers)).toEqual({ 401: 5, 429: 195 });
    expect(comparisons()).toBe(5);
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
