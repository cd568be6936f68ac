import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { openStore } from "../../src/store/open-store.ts";
import { databases } from "../kit/databases.ts";

describe.each(databases)("the store on $name", ({ fresh }) => {
  test("answers", async () => {
    const database = await fresh();
    const store = await openStore(database.config, systemClock);
    await store.ping();
    expect(await store.db.selectFrom("tenants").selectAll().execute()).toEqual([]);
    await store.close();
    await database.drop();
  });
});
