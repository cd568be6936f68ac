import { expect, test } from "vitest";
import { VerifiedCache } from "./verified-cache.ts";

test("never holds more than its capacity", () => {
  const cache = new VerifiedCache<number>(100);
  for (let index = 0; index < 10_000; index += 1) cache.set(`token ${index}`, index);
  expect(cache.size).toBeLessThanOrEqual(100);
});

test("keeps what is in use while others come and go", () => {
  const cache = new VerifiedCache<string>(10);
  cache.set("in use", "kept");
  for (let index = 0; index < 1000; index += 1) {
    cache.set(`passer-by ${index}`, "");
    expect(cache.get("in use")).toBe("kept");
  }
});

test("forgets what it is told to forget, in either generation", () => {
  const cache = new VerifiedCache<number>(4);
  cache.set("old", 1);
  cache.set("a", 1);
  cache.set("young", 1);
  cache.delete("old");
  cache.delete("young");
  expect([cache.get("old"), cache.get("young"), cache.get("a")]).toEqual([undefined, undefined, 1]);
});
