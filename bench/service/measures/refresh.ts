import { join } from "node:path";
import type { Session } from "@fieldgate/contract";
import type { DatabaseConfig } from "../../../packages/server/src/config/config.ts";
import { startPostgres } from "../../../packages/server/test/kit/postgres-server.ts";
import { type Child, startChild } from "../children.ts";
import { type DeviceKey, newDeviceKey } from "../dpop-keys.ts";
import { freePort } from "../free-port.ts";
import type { FieldgateNodeTasks } from "../processes/fieldgate-node.ts";
import type { HandServerTasks } from "../processes/hand-server.ts";
import type { RefreshLoadTasks } from "../processes/refresh-load.ts";
import { compareInRounds, type Runner } from "../rounds.ts";
import { newSecret } from "../service-config.ts";
import type { Finding, Measure, MeasureOptions } from "./measure.ts";

const devices = 16;
const kinds = ["plain", "bound"] as const;
type Kind = (typeof kinds)[number];

/** Refreshing on both databases, plain and bound, beside the same work written by hand. */
export const measureRefresh: Measure = async (options) => {
  const sqlite = (side: string): DatabaseConfig => ({
    kind: "sqlite",
    file: join(options.folder, `refresh-${side}.db`),
  });
  const onSqlite = await measureDatabase("SQLite", sqlite, options);

  options.progress("refresh: starting PostgreSQL");
  const server = await startPostgres();
  try {
    await server.run("create database ours", "create database hand");
    const postgres = (side: string): DatabaseConfig => ({ kind: "postgres", url: server.url(side), poolSize: 10 });
    return [...onSqlite, ...(await measureDatabase("PostgreSQL", postgres, options))];
  } finally {
    await server.stop();
  }
};

async function measureDatabase(
  name: string,
  database: (side: string) => DatabaseConfig,
  options: MeasureOptions,
): Promise<Finding[]> {
  const node = startChild<FieldgateNodeTasks>("fieldgate-node.ts", options.nodeOptions);
  const hand = startChild<HandServerTasks>("hand-server.ts");
  const load = startChild<RefreshLoadTasks>("refresh-load.ts");
  options.progress(`refresh on ${name}: signing in`);
  const keys = Array.from({ length: devices }, newDeviceKey);
  const ours = await prepareSide("ours", node, load, { database: database("ours"), keys, options });
  const theirs = await prepareSide("hand", hand, load, { database: database("hand"), keys, options });

  const findings: Finding[] = [];
  for (const kind of kinds) {
    const comparison = await compareInRounds(`refresh on ${name}, ${kind}`, ours(kind), theirs(kind), options);
    findings.push({
      name: `refresh on ${name}, ${kind}`,
      ours: comparison.ours,
      theirs: `${comparison.theirs} (by hand)`,
      spread: comparison.ratio,
      unit: "ratio",
      target: { atLeast: 0.6 },
      detail: comparison.detail,
    });
  }
  await Promise.all([node.end(), hand.end(), load.end()]);
  return findings;
}

interface Side {
  readonly database: DatabaseConfig;
  readonly keys: readonly DeviceKey[];
  readonly options: MeasureOptions;
}

type Server = Child<FieldgateNodeTasks> | Child<HandServerTasks>;

/** Starts one side with as many plain sessions as bound ones, and connects a device to each. */
async function prepareSide(
  side: string,
  server: Server,
  load: Child<RefreshLoadTasks>,
  { database, keys, options }: Side,
): Promise<(kind: Kind) => Runner> {
  const port = await freePort();
  const jkts = [...keys.map(({ jkt }) => jkt), ...keys.map(() => null)];
  const setup = { port, database, dataDir: join(options.folder, side), secret: newSecret(), jkts };
  const sessions = await (server as Child<HandServerTasks>).ask("start", setup);
  const [bound, plain] = [sessions.slice(0, keys.length), sessions.slice(keys.length)];
  const orders = { bound: deviceOrders(bound, keys), plain: deviceOrders(plain, []) };
  for (const kind of kinds) await load.ask("prepare", { name: `${side} ${kind}`, port, devices: orders[kind] });
  return (kind) => ({
    run: (seconds) => load.ask("run", { name: `${side} ${kind}`, seconds }),
    cpuTime: () => (server as Child<HandServerTasks>).ask("cpuTime"),
  });
}

function deviceOrders(sessions: readonly Session[], keys: readonly DeviceKey[]) {
  return sessions.map(({ refreshToken }, index) => ({ refreshToken, key: keys[index] ?? null }));
}
