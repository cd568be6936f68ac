import { maxEventBytes, maxPullEvents, maxPushBytes, maxPushEvents } from "@fieldgate/contract";
import { expect, test } from "vitest";
import { InternalSyncManager, serverLimits } from "./internal-sync-manager.ts";
import { delayOf } from "./retry.ts";

test("the limits are the service's: they are written twice, so that a page need not load the contract", () => {
  expect(serverLimits).toEqual({
    batchEvents: maxPushEvents,
    batchBytes: maxPushBytes,
    eventBytes: maxEventBytes,
    pageSize: maxPullEvents,
  });
});

test.each([{ batchEvents: 501 }, { batchBytes: 0 }, { pageSize: 1.5 }, { tries: 0 }, { timeout: -1 }])(
  "%j is refused, and named",
  (options) => {
    expect(() => new InternalSyncManager(options)).toThrow(new RegExp(`^${Object.keys(options)[0]}`));
  },
);

test("waits double, are spread, have an end, and heed what the service asks for", () => {
  const policy = { tries: 9, firstDelay: 100, longestDelay: 1000 };
  for (let round = 0; round < 100; round++) {
    expect(delayOf(policy, 1)).toBeGreaterThanOrEqual(50);
    expect(delayOf(policy, 1)).toBeLessThanOrEqual(100);
    expect(delayOf(policy, 3)).toBeGreaterThanOrEqual(200);
    expect(delayOf(policy, 3)).toBeLessThanOrEqual(400);
    expect(delayOf(policy, 30)).toBeLessThanOrEqual(1000);
  }
  expect(delayOf(policy, 1, 7)).toBe(7000);
  expect(delayOf(policy, 1, 86_400)).toBe(60_000);
});
