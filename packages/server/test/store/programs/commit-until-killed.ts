/** Commits one row after the other to the database of its argument, and prints the name of each when it is there. */
import { systemClock } from "../../../src/clock.ts";
import { openStore } from "../../../src/store/open-store.ts";

const store = await openStore(JSON.parse(process.argv[2] ?? ""), systemClock);
for (let i = 0; i < 100_000; i++) {
  const name = `row ${i}`;
  await store.transaction(async (tx) => {
    await tx.db.insertInto("deployment").values({ name, value: "first half" }).execute();
    await tx.db.updateTable("deployment").set({ value: "whole" }).where("name", "=", name).execute();
  });
  process.stdout.write(`${name}\n`);
}
