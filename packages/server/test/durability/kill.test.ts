import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { DatabaseConfig } from "../../src/config/config.ts";
import { openStore } from "../../src/store/open-store.ts";
import { databases } from "../kit/databases.ts";
import { startNode } from "../kit/node.ts";
import { Ledger } from "./ledger.ts";
import { makeCompileCache, startNodeProcess } from "./node-process.ts";

/** How often the node is killed; `FIELDGATE_RUNS=100` for a long night. */
const kills = Number(process.env.FIELDGATE_RUNS ?? 5);

/** One sign-in at a time each: an attempt that a kill cuts off counts for half a minute. */
const people = ["amina", "baraka", "chidi", "dalia", "emeka", "farah"];

const compileCache = makeCompileCache();
afterAll(() => compileCache.remove());

describe.each(databases)("kill -9 of a node under load, on $name", ({ fresh }) => {
  test(
    `loses no sign-in, rotation or logout that it acknowledged, ${kills} times`,
    async ({ onTestFinished }) => {
      const { config, drop } = await fresh();
      onTestFinished(drop);
      await seed(config);
      const ledger = new Ledger();
      // Nobody else has the database open: what the killed node left behind is put right by the next.
      let node = await startNodeProcess(config, compileCache.folder);
      onTestFinished(() => node.kill());
      for (let round = 0; round < kills; round += 1) {
        const { api } = node;
        const enough = ledger.acknowledged + 20 + Math.random() * 40;
        const working = Promise.all(people.map((name, who) => ledger.workUntilKilled(api, name, who % 3 > 0)));
        while (ledger.acknowledged < enough) await Promise.race([sleep(1), working]);
        await node.kill();
        await working;

        node = await startNodeProcess(config, compileCache.folder);
        const store = await openStore(config, systemClock);
        await ledger.checkRows(store);
        await store.close();
        await ledger.checkAnswers(node.api);
      }
      expect(new Set(ledger.entries.map(({ ended }) => ended))).toEqual(new Set(["no", "yes"]));
    },
    60_000 + kills * 10_000,
  );
});

async function seed(database: DatabaseConfig): Promise<void> {
  const node = await startNode({ database });
  await node.addTenant("demo");
  for (const username of people) await node.addWorker({ username });
  await node.close();
}
