import { join } from "node:path";
import type { DatabaseConfig } from "../../../packages/server/src/config/config.ts";
import { startPostgres } from "../../../packages/server/test/kit/postgres-server.ts";
import { startChild } from "../../service/children.ts";
import { freePort } from "../../service/free-port.ts";
import type { Finding, Measure, MeasureOptions } from "../../service/measures/measure.ts";
import { newSecret } from "../../service/service-config.ts";
import { quantile, spreadOf } from "../../service/statistics.ts";
import { type Bench, startBrowser } from "../browser.ts";
import type { SyncNodeTasks } from "../processes/node.ts";
import type { RawInsertTasks } from "../processes/raw-insert.ts";

const processFile = (name: string) => new URL(`../processes/${name}`, import.meta.url);

interface Round {
  /** Events a second, and rows a second. */
  readonly pushed: number;
  readonly raw: number;
}

/** A database for the service and one of the same kind for the bare rows, new in each round. */
interface Kind {
  readonly name: string;
  service(round: number): Promise<DatabaseConfig>;
  insert(round: number, rows: Awaited<ReturnType<SyncNodeTasks["rows"]>>): Promise<number>;
}

/** Events from Chromium to the disk of the service. */
export function measurePush(count: number): Measure {
  return async (options) => {
    const bench = await startBrowser();
    const postgres = await startPostgres();
    const raw = startChild<RawInsertTasks>(processFile("raw-insert.ts"));
    const kinds: Kind[] = [
      {
        name: "SQLite",
        service: async (round) => ({ kind: "sqlite", file: join(options.folder, `push-${round}.db`) }),
        insert: (round, rows) => raw.ask("sqlite", { file: join(options.folder, `raw-${round}.db`), rows }),
      },
      {
        name: "PostgreSQL",
        async service(round) {
          await postgres.run(`create database push_${round}`);
          return { kind: "postgres", url: postgres.url(`push_${round}`), poolSize: 4 };
        },
        async insert(round, rows) {
          await postgres.run(`create database raw_${round}`);
          return raw.ask("postgres", { url: postgres.url(`raw_${round}`), rows });
        },
      },
    ];
    try {
      const findings: Finding[] = [];
      for (const kind of kinds) findings.push(await compare(kind, count, bench, options));
      return findings;
    } finally {
      await raw.end();
      await postgres.stop();
      await bench.close();
    }
  };
}

async function compare(kind: Kind, count: number, bench: Bench, options: MeasureOptions): Promise<Finding> {
  const rounds: Round[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    options.progress(`push: round ${round} of ${options.rounds} on ${kind.name}`);
    rounds.push(await push(kind, round, count, bench, options));
  }
  const rate = (values: readonly number[]) => Math.round(quantile(values, 0.5)).toLocaleString("en");
  return {
    name: `push of ${count.toLocaleString("en")} events, ${kind.name}`,
    ours: `${rate(rounds.map(({ pushed }) => pushed))} events/s`,
    theirs: `bare rows ${rate(rounds.map(({ raw }) => raw))}/s`,
    spread: spreadOf(rounds.map(({ pushed, raw }) => pushed / Math.min(raw / 2, 2000))),
    unit: "ratio",
    target: { atLeast: 1 },
    detail: { events: count, rounds, ratioOf: "events/s to the lower of half the bare rate and 2,000 events/s" },
  };
}

async function push(kind: Kind, round: number, count: number, bench: Bench, options: MeasureOptions): Promise<Round> {
  const node = startChild<SyncNodeTasks>(processFile("node.ts"), options.nodeOptions);
  const setup = { port: await freePort(), dataDir: options.folder, secret: newSecret(), origin: bench.origin };
  const url = await node.ask("start", { ...setup, database: await kind.service(round) });
  const page = await bench.openDevice(url);
  await page.evaluate((number) => syncDevice.collect(number), count);
  const { took, ...sent } = await page.evaluate(() => syncDevice.push());
  const stored = await node.ask("count");
  const expected = { pushed: count, duplicates: 0, rejected: 0, hasUnsynced: false, events: count, different: count };
  const actual = { ...sent, ...stored };
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new Error(`Events were lost or doubled: ${JSON.stringify(actual)}`);
  }
  await page.context().close();
  const rows = await node.ask("rows");
  await node.end();
  const bare = await kind.insert(round, rows);
  return { pushed: (count / took) * 1000, raw: (count / bare) * 1000 };
}
