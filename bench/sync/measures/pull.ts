import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { startChild } from "../../service/children.ts";
import { freePort } from "../../service/free-port.ts";
import type { Measure } from "../../service/measures/measure.ts";
import { newSecret } from "../../service/service-config.ts";
import { spreadOf } from "../../service/statistics.ts";
import { startBrowser } from "../browser.ts";
import type { SyncNodeTasks } from "../processes/node.ts";

interface Sample {
  readonly pulled: number;
  readonly megabytes: number;
}

/** A new device takes in everything there is: its memory must not grow with it. */
export function measurePull(stored: number): Measure {
  return async (options) => {
    const bench = await startBrowser();
    const node = startChild<SyncNodeTasks>(new URL("../processes/node.ts", import.meta.url), options.nodeOptions);
    try {
      const database = { kind: "sqlite", file: join(options.folder, "pull.db") } as const;
      const setup = { port: await freePort(), dataDir: options.folder, secret: newSecret(), origin: bench.origin };
      const url = await node.ask("start", { ...setup, database });
      for (let from = 0; from < stored; from += 500) {
        if (from % 10_000 === 0) options.progress(`pull: the service has ${from.toLocaleString("en")} events`);
        await node.ask("fill", { from, count: Math.min(500, stored - from) });
      }
      const page = await bench.openDevice(url);
      const began = performance.now();
      const pulling = page.evaluate(() => syncDevice.pull());
      const samples = await sampleWhile(page, pulling, options.progress);
      const seconds = (performance.now() - began) / 1000;
      if ((await pulling) !== stored) throw new Error(`${await pulling} events were pulled instead of ${stored}.`);
      const heapWhere = (isWanted: (pulled: number) => boolean) =>
        samples.filter(({ pulled }) => isWanted(pulled)).map(({ megabytes }) => megabytes);
      const early = spreadOf(heapWhere((pulled) => pulled > 0 && pulled <= stored / 5));
      const late = spreadOf(heapWhere((pulled) => pulled >= (stored * 4) / 5));
      return [
        {
          name: `pull of ${stored.toLocaleString("en")} events, growth of the heap`,
          ours: `${late.median.toFixed(1)} MB at the end, ${Math.round(stored / seconds).toLocaleString("en")} events/s`,
          theirs: `${early.median.toFixed(1)} MB in the first fifth`,
          spread: { median: late.median - early.median, min: late.min - early.max, max: late.max - early.min },
          unit: "MB",
          target: { atMost: 5 },
          detail: { events: stored, seconds, early, late, samples: samples.length },
        },
      ];
    } finally {
      await node.end();
      await bench.close();
    }
  };
}

/** Looks at the page's heap, swept, until the work ends. */
async function sampleWhile(page: Page, work: Promise<unknown>, progress: (line: string) => void): Promise<Sample[]> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const samples: Sample[] = [];
  let isDone = false;
  const end = work.finally(() => {
    isDone = true;
  });
  end.catch(() => 0);
  while (!isDone) {
    await session.send("HeapProfiler.collectGarbage");
    const { metrics } = await session.send("Performance.getMetrics");
    const pulled = await page.evaluate(() => syncDevice.pulled);
    const used = metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? 0;
    samples.push({ pulled, megabytes: used / 1e6 });
    progress(`pull: ${pulled.toLocaleString("en")} events, ${(used / 1e6).toFixed(1)} MB`);
    await Promise.race([sleep(500), end.catch(() => 0)]);
  }
  return samples;
}
