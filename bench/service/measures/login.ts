import { join } from "node:path";
import { startChild } from "../children.ts";
import { freePort } from "../free-port.ts";
import type { Argon2Tasks } from "../processes/argon2-ceiling.ts";
import type { AutocannonTasks } from "../processes/autocannon-load.ts";
import type { FieldgateNodeTasks } from "../processes/fieldgate-node.ts";
import type { ProbeTasks } from "../processes/probe.ts";
import { compareInRounds, type Runner } from "../rounds.ts";
import { newSecret, password } from "../service-config.ts";
import { quantile, spreadOf } from "../statistics.ts";
import type { Finding, Measure, MeasureOptions } from "./measure.ts";

/** So many that nobody signs in twice at the same time: the budgets of one person must not slow the others' down. */
const workers = 500;
/** Enough to keep every core at work, and fewer than may wait. */
const connections = 16;

/** Sign-ins beside the machine's argon2id ceiling, and what a flood of them does to those who check tokens. */
export const measureLogin: Measure = async (options) => {
  const node = startChild<FieldgateNodeTasks>("fieldgate-node.ts", options.nodeOptions);
  const ceiling = startChild<Argon2Tasks>("argon2-ceiling.ts");
  const load = startChild<AutocannonTasks>("autocannon-load.ts");
  const probe = startChild<ProbeTasks>("probe.ts");
  const port = await freePort();

  options.progress("login: adding workers");
  const sessions = await node.ask("start", {
    port,
    database: { kind: "sqlite", file: join(options.folder, "login.db") },
    dataDir: join(options.folder, "login"),
    secret: newSecret(),
    jkts: Array.from({ length: workers }, () => null),
  });
  const requests = sessions.map(({ username }) => ({
    method: "POST" as const,
    path: "/api/users/login",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username, password }),
  }));
  const signIns: Runner = {
    run: (seconds) => load.ask("run", { port, connections, seconds, requests }),
    cpuTime: () => node.ask("cpuTime"),
  };

  const engine = await fasterEngine(ceiling, options);
  const checks: Runner = {
    run: (seconds) => ceiling.ask("run", { engine, seconds }),
    cpuTime: () => ceiling.ask("cpuTime"),
  };
  const comparison = await compareInRounds("login", signIns, checks, options);
  const tokens = sessions.map(({ token }) => token);
  const calm = (seconds: number) => probe.ask("run", { port, tokens, seconds, every: 4 });
  const flood = await measureFlood(signIns, calm, options);
  await Promise.all([node.end(), ceiling.end(), load.end(), probe.end()]);

  return [
    {
      name: "login",
      ours: comparison.ours,
      theirs: `${comparison.theirs} (argon2id alone, ${engineNames[engine]})`,
      spread: comparison.ratio,
      unit: "ratio",
      target: { atLeast: 0.9 },
      detail: { engine, ...comparison.detail },
    },
    flood,
  ];
};

const engineNames = { library: "@node-rs/argon2", node: "node:crypto" } as const;

/** The ceiling is whichever implementation is faster here, not only the one we use. */
async function fasterEngine(
  ceiling: ReturnType<typeof startChild<Argon2Tasks>>,
  { seconds, progress }: MeasureOptions,
): Promise<keyof typeof engineNames> {
  progress("login: finding the argon2id ceiling");
  const library = await ceiling.ask("run", { engine: "library", seconds });
  const node = await ceiling.ask("run", { engine: "node", seconds });
  return node.perSecond > library.perSecond ? "node" : "library";
}

/** The 99th percentile of check-token while people sign in, over that of a quiet service, round by round. */
async function measureFlood(
  signIns: Runner,
  probe: (seconds: number) => Promise<number[]>,
  { rounds, seconds, progress }: MeasureOptions,
): Promise<Finding> {
  const p99s: { readonly calm: number; readonly flood: number }[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    progress(`check-token during a flood of logins: round ${round} of ${rounds}`);
    const calm = await probe(seconds);
    const [, flood] = await Promise.all([signIns.run(seconds), probe(seconds)]);
    p99s.push({ calm: quantile(calm, 0.99), flood: quantile(flood, 0.99) });
  }
  const median = (values: readonly number[]) => `p99 ${spreadOf(values).median.toFixed(1)} ms`;
  return {
    name: "check-token in a login flood",
    ours: median(p99s.map(({ flood }) => flood)),
    theirs: `${median(p99s.map(({ calm }) => calm))} (idle)`,
    spread: spreadOf(p99s.map(({ calm, flood }) => flood / calm)),
    unit: "ratio",
    target: { atMost: 10 },
    detail: { p99s },
  };
}
