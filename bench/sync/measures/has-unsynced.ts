import { join } from "node:path";
import { startChild } from "../../service/children.ts";
import { freePort } from "../../service/free-port.ts";
import type { Finding, Measure } from "../../service/measures/measure.ts";
import { newSecret } from "../../service/service-config.ts";
import { quantile, spreadOf } from "../../service/statistics.ts";
import { startBrowser } from "../browser.ts";
import type { SyncNodeTasks } from "../processes/node.ts";

const calls = 1000;

/** `hasUnsyncedEvents()` on a device that holds many: with none unsynced, with the last one, with all. */
export function measureHasUnsynced(stored: number): Measure {
  return async (options) => {
    const bench = await startBrowser();
    const node = startChild<SyncNodeTasks>(new URL("../processes/node.ts", import.meta.url), options.nodeOptions);
    try {
      const database = { kind: "sqlite", file: join(options.folder, "unsynced.db") } as const;
      const setup = { port: await freePort(), dataDir: options.folder, secret: newSecret(), origin: bench.origin };
      const page = await bench.openDevice(await node.ask("start", { ...setup, database }));
      options.progress(`unsynced: storing ${stored.toLocaleString("en")} events`);
      await page.evaluate((count) => syncDevice.fill(count), stored);
      const findings: Finding[] = [];
      for (const unsynced of [0, 1, stored]) {
        options.progress(`unsynced: ${unsynced.toLocaleString("en")} of them`);
        if (unsynced > 0) await page.evaluate((count) => syncDevice.reopen(count), unsynced);
        const { answer, times } = await page.evaluate((number) => syncDevice.hasUnsynced(number), calls);
        if (answer !== unsynced > 0) throw new Error(`hasUnsyncedEvents() is ${answer} with ${unsynced} unsynced.`);
        const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
        findings.push({
          name: `hasUnsyncedEvents(), ${unsynced.toLocaleString("en")} of ${stored.toLocaleString("en")} unsynced`,
          ours: `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`,
          theirs: "",
          // The slowest call but ten is the one that somebody waits for.
          spread: spreadOf([p99]),
          unit: "ms",
          target: { atMost: 2 },
          detail: { stored, unsynced, calls, p50, p99 },
        });
      }
      return findings;
    } finally {
      await node.end();
      await bench.close();
    }
  };
}
