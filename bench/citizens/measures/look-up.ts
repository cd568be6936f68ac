import { join } from "node:path";
import { startPostgres } from "../../../packages/server/test/kit/postgres-server.ts";
import { type Child, startChild } from "../../service/children.ts";
import type { Finding, Measure, MeasureOptions } from "../../service/measures/measure.ts";
import { newSecret } from "../../service/service-config.ts";
import { quantile, spreadOf } from "../../service/statistics.ts";
import { processFile } from "../process-file.ts";
import type { LookUpTasks, SizedDatabase } from "../processes/look-up.ts";

const few = 10_000;
/** In each database and round; one in a hundred of them is slower than what is reported. */
const lookUps = 3000;

/** Finding the one person with an ID number among many, beside among few. */
export function measureLookUp(many: number): Measure {
  return async (options) => {
    options.progress("look-up: starting PostgreSQL");
    const server = await startPostgres();
    try {
      await server.run("create database few", "create database many");
      // For the filling; a look-up writes nothing.
      await server.run("alter system set synchronous_commit = off", "alter system set max_wal_size = '8GB'");
      await server.run("select pg_reload_conf()");
      const file = (name: string) => ({ kind: "sqlite", file: join(options.folder, `look-up-${name}.db`) }) as const;
      const remote = (name: string) => ({ kind: "postgres", url: server.url(name), poolSize: 2 }) as const;
      const databases: Record<string, SizedDatabase> = {
        "SQLite few": { database: file("few"), people: few },
        "SQLite many": { database: file("many"), people: many },
        "PostgreSQL few": { database: remote("few"), people: few },
        "PostgreSQL many": { database: remote("many"), people: many },
      };
      const child = startChild<LookUpTasks>(processFile("look-up.ts"), options.nodeOptions);
      await fill(child, databases, many, options);
      const findings: Finding[] = [];
      for (const kind of ["SQLite", "PostgreSQL"]) findings.push(await compare(child, kind, many, options));
      await child.end();
      return findings;
    } finally {
      await server.stop();
    }
  };
}

async function fill(
  child: Child<LookUpTasks>,
  databases: Record<string, SizedDatabase>,
  many: number,
  { progress }: MeasureOptions,
): Promise<void> {
  const secret = newSecret();
  await child.ask("prepare", { secret, databases });
  for (let added = 0; added < many; added = await child.ask("fill", { from: added })) {
    progress(`look-up: ${added.toLocaleString("en")} of ${many.toLocaleString("en")} people are there`);
  }
  await child.ask("open", { secret, databases });
}

async function compare(
  child: Child<LookUpTasks>,
  kind: string,
  many: number,
  { rounds, progress }: MeasureOptions,
): Promise<Finding> {
  const names = [`${kind} few`, `${kind} many`];
  progress(`look-up on ${kind}: warming up`);
  await child.ask("time", { names, count: lookUps });
  const samples: { readonly few: Times; readonly many: Times }[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    progress(`look-up on ${kind}: round ${round} of ${rounds}`);
    const [inFew = [], inMany = []] = await child.ask("time", { names, count: lookUps });
    samples.push({ few: timesOf(inFew), many: timesOf(inMany) });
  }
  const ratios = samples.map((round) => round.many.p99 / round.few.p99);
  return {
    name: `look-up p99 on ${kind}, ${many.toLocaleString("en")} people`,
    ours: inWords(samples.map((round) => round.many)),
    theirs: `${inWords(samples.map((round) => round.few))} (${few.toLocaleString("en")} people)`,
    spread: spreadOf(ratios),
    unit: "ratio",
    target: { atMost: 1.5 },
    detail: { many, few, lookUps, ratios, rounds: samples },
  };
}

interface Times {
  readonly p50: number;
  readonly p99: number;
}

const timesOf = (times: readonly number[]): Times => ({ p50: quantile(times, 0.5), p99: quantile(times, 0.99) });

function inWords(samples: readonly Times[]): string {
  const middle = (of: (times: Times) => number) => spreadOf(samples.map(of)).median.toFixed(2);
  return `p50 ${middle(({ p50 }) => p50)} ms, p99 ${middle(({ p99 }) => p99)} ms`;
}
