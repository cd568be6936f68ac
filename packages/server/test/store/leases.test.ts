import { describe, expect, test } from "vitest";
import { dropLease, holdLease } from "../../src/store/leases.ts";
import type { Store } from "../../src/store/store.ts";
import { databases } from "../kit/databases.ts";
import { freshStore } from "./fresh-store.ts";

describe.each(databases)("a lease on $name", ({ fresh }) => {
  test("is held by one, renewed by it, and refused to others until it is dropped", async () => {
    const { store, another } = await freshStore(fresh);
    const other = await another();
    expect(await holdLease(store, "work", "a", 60)).toBe(true);
    expect(await holdLease(other, "work", "b", 60)).toBe(false);
    expect(await holdLease(store, "work", "a", 60)).toBe(true);
    expect(await holdLease(other, "other work", "b", 60)).toBe(true);
    await dropLease(other, "work", "b");
    expect(await holdLease(other, "work", "b", 60)).toBe(false);
    await dropLease(store, "work", "a");
    expect(await holdLease(other, "work", "b", 60)).toBe(true);
    expect(await holdLease(store, "work", "a", 60)).toBe(false);
  });

  test("falls to another when its time is over, by the database's clock", async () => {
    const later = { now: () => Date.now() + 61_000, monotonic: () => performance.now(), offset: 61_000 };
    const { store, another } = await freshStore(fresh);
    const other = await another(later);
    expect(await holdLease(store, "work", "a", 60)).toBe(true);
    expect(await holdLease(other, "work", "b", 60)).toBe(true);
    expect(await holdLease(store, "work", "a", 60)).toBe(false);
  });

  test("has one holder, however many ask at once", async () => {
    const { store, another } = await freshStore(fresh);
    const stores = [store, await another(), await another()];
    const asked = Array.from({ length: 30 }, (_, i) => holdLease(stores[i % 3] as Store, "work", `h${i}`, 60));
    expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(1);
  });

  test("is not taken when its transaction is rolled back", async () => {
    const { store } = await freshStore(fresh);
    const work = store.transaction(async (tx) => {
      expect(await holdLease(tx, "work", "a", 60)).toBe(true);
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    expect(await holdLease(store, "work", "b", 60)).toBe(true);
  });
});
