import { join } from "node:path";
import type { DatabaseConfig } from "../../../packages/server/src/config/config.ts";
import { startPostgres } from "../../../packages/server/test/kit/postgres-server.ts";
import { type Child, startChild } from "../../service/children.ts";
import { freePort } from "../../service/free-port.ts";
import type { Finding, Measure, MeasureOptions } from "../../service/measures/measure.ts";
import { compareInRounds, type Runner } from "../../service/rounds.ts";
import { newSecret } from "../../service/service-config.ts";
import { processFile } from "../process-file.ts";
import type { HandServerTasks } from "../processes/hand-server.ts";
import type { NodeTasks } from "../processes/node.ts";
import type { PreparerTasks } from "../processes/preparer.ts";
import type { SignInLoadTasks } from "../processes/sign-in-load.ts";

export type WayIn = "otp" | "id";

const paths: Readonly<Record<WayIn, string>> = { otp: "/api/auth/otp/verify", id: "/api/auth/id/verify" };
/** More than sign in during a run. */
const people = 6000;
const connections = 16;

/** Right sign-ins of known people on both databases, beside the same work written by hand. */
export function measureSignIn(way: WayIn): Measure {
  return async (options) => {
    const sqlite = (side: string): DatabaseConfig => ({
      kind: "sqlite",
      file: join(options.folder, `${way}-${side}.db`),
    });
    const onSqlite = await measureDatabase(way, "SQLite", sqlite, options);

    options.progress(`${way}/verify: starting PostgreSQL`);
    const server = await startPostgres();
    try {
      await server.run("create database ours", "create database hand");
      const postgres = (side: string): DatabaseConfig => ({ kind: "postgres", url: server.url(side), poolSize: 10 });
      return [onSqlite, await measureDatabase(way, "PostgreSQL", postgres, options)];
    } finally {
      await server.stop();
    }
  };
}

async function measureDatabase(
  way: WayIn,
  database: string,
  configOf: (side: string) => DatabaseConfig,
  options: MeasureOptions,
): Promise<Finding> {
  const name = `${way}/verify on ${database}`;
  const preparer = startChild<PreparerTasks>(processFile("preparer.ts"));
  const load = startChild<SignInLoadTasks>(processFile("sign-in-load.ts"));
  const node = startChild<NodeTasks>(processFile("node.ts"), options.nodeOptions);
  const hand = startChild<HandServerTasks>(processFile("hand-server.ts"));

  async function prepareSide(side: string, server: Child<NodeTasks | HandServerTasks>): Promise<Runner> {
    options.progress(`${name}: adding people, ${side}`);
    const setup = { database: configOf(side), secret: newSecret() };
    await preparer.ask("prepare", { name: side, ...setup, people });
    const port = await freePort();
    await server.ask("start", { port, dataDir: join(options.folder, `${way}-${side}`), ...setup });
    return {
      async run(seconds) {
        const bodies = await preparer.ask(way, { name: side });
        return load.ask("run", { port, path: paths[way], connections, seconds, bodies });
      },
      cpuTime: () => server.ask("cpuTime"),
    };
  }
  const ours = await prepareSide("ours", node);
  const theirs = await prepareSide("hand", hand);
  const comparison = await compareInRounds(name, ours, theirs, options);
  for (const child of [node, hand, load, preparer]) await child.end();
  return {
    name,
    ours: comparison.ours,
    theirs: `${comparison.theirs} (by hand)`,
    spread: comparison.ratio,
    unit: "ratio",
    target: { atLeast: 0.6 },
    detail: comparison.detail,
  };
}
