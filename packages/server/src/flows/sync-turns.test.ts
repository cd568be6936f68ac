import { setImmediate as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { createSyncTurns, inSlices } from "./sync-turns.ts";

function setUp() {
  const turns = createSyncTurns({ parallel: 2, queue: 8, perSession: 2 });
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = (name: string, sessionId: string, tenantId = "demo") =>
    turns.run({ tenantId, sessionId }, () => {
      started.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    });
  return { begin, started, end: (name: string) => ends.get(name)?.() };
}

test("a session has one batch at work; a few wait in their order, and one too many is told to come back", async () => {
  const { begin, started, end } = setUp();
  const all = ["a1", "a2", "a3"].map((name) => begin(name, "a"));
  const other = begin("b1", "b");
  await pause();
  expect(started).toEqual(["a1", "b1"]);
  expect(() => begin("a4", "a")).toThrow(expect.objectContaining({ code: "rate_limited", retryAfter: 1 }));
  end("a1");
  expect(await all[0]).toBe("a1");
  await pause();
  expect(started).toEqual(["a1", "b1", "a2"]);
  for (const name of ["a2", "b1"]) end(name);
  await all[1];
  await pause();
  end("a3");
  expect(await Promise.all([...all, other])).toEqual(["a1", "a2", "a3", "b1"]);
  const again = begin("a5", "a");
  await pause();
  end("a5");
  expect(await again).toBe("a5");
});

test("a batch that fails gives its place up", async () => {
  const turns = createSyncTurns({ parallel: 1, queue: 0, perSession: 0 });
  const caller = { tenantId: "demo", sessionId: "a" };
  await expect(turns.run(caller, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await pause();
  expect(await turns.run(caller, async () => "yes")).toBe("yes");
});

test("a long list leaves room for others", async () => {
  let others = 0;
  const timer = setInterval(() => {
    others += 1;
  }, 0);
  const items = Array.from({ length: 100 }, (_, index) => index);
  const seen: number[] = [];
  const result = await inSlices(items, (item) => {
    seen.push(others);
    const until = performance.now() + 1;
    while (performance.now() < until);
    return item * 2;
  });
  clearInterval(timer);
  expect(result).toEqual(items.map((item) => item * 2));
  expect(seen.at(-1)).toBeGreaterThan(0);
});
