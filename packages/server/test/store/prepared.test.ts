import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { prepare } from "../../src/store/prepared.ts";
import { databases } from "../kit/databases.ts";
import { freshStore } from "./fresh-store.ts";

interface Fact {
  readonly name: string;
  readonly value: string;
}

let built = 0;
const putFact = prepare((q, { name, value }: Fact) => {
  built += 1;
  return q.db.insertInto("deployment").values({ name, value });
});
const factsFrom = prepare((q, { least }: { least: string }) =>
  q.db.selectFrom("deployment").selectAll().where("name", ">=", least).orderBy("name").limit(2),
);
const swapFact = prepare((q, { name, value }: Fact) =>
  q.db
    .updateTable("deployment")
    .set({ value: sql<string>`${value} || value || ${value}` })
    .where("name", "=", name)
    .returning(["name", "value"]),
);
const proofLife = prepare((q, { id, life }: { id: string; life: number }) =>
  q.db
    .insertInto("dpop_proofs")
    .values({ id, expires_at: sql<number>`${q.now} + ${life}` })
    .returning("expires_at"),
);

describe.each(databases)("prepared statements on $name", ({ fresh }) => {
  test("are built once and then given their values", async () => {
    const { store, another } = await freshStore(fresh);
    await putFact(store, { name: "a", value: "1" });
    const before = built;
    await putFact(store, { name: "b", value: "2" });
    await store.transaction((tx) => putFact(tx, { value: "4", name: "d" }));
    await putFact(await another(), { name: "c", value: "3" });
    expect(built).toBe(before);
    expect(await factsFrom(store, { least: "b" })).toEqual([
      { name: "b", value: "2" },
      { name: "c", value: "3" },
    ]);
    expect(await factsFrom(store, { least: "d" })).toEqual([{ name: "d", value: "4" }]);
  });

  test("may use a value twice, in any order", async () => {
    const { store } = await freshStore(fresh);
    await putFact(store, { name: "a", value: "-" });
    expect(await swapFact(store, { name: "a", value: "x" })).toEqual([{ name: "a", value: "x-x" }]);
    expect(await swapFact(store, { name: "none", value: "x" })).toEqual([]);
  });

  test("belong to the transaction they run in", async () => {
    const { store } = await freshStore(fresh);
    const work = store.transaction(async (tx) => {
      await putFact(tx, { name: "a", value: "1" });
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    expect(await factsFrom(store, { least: "" })).toEqual([]);
  });

  test("follow a clock that is set forward", async () => {
    const clock = { now: () => Date.now(), monotonic: () => performance.now(), offset: 0 };
    const { store } = await freshStore(fresh, { clock });
    const [now] = await proofLife(store, { id: "now", life: 1 });
    clock.offset = 86_400_000;
    const [later] = await proofLife(store, { id: "later", life: 1 });
    clock.offset = 2 * 86_400_000;
    const [latest] = await proofLife(store, { id: "latest", life: 2 });
    const days = [later, latest].map((row) => ((row?.expires_at ?? 0) - (now?.expires_at ?? 0)) / 86_400_000);
    expect(days[0]).toBeCloseTo(1, 2);
    expect(days[1]).toBeCloseTo(2, 2);
  });
});
