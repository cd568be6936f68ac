import { join } from "node:path";
import { startChild } from "../children.ts";
import { Connection, requestText } from "../connection.ts";
import { freePort } from "../free-port.ts";
import type { AutocannonTasks } from "../processes/autocannon-load.ts";
import type { BareServerTasks } from "../processes/bare-server.ts";
import type { FieldgateNodeTasks } from "../processes/fieldgate-node.ts";
import { compareInRounds, type Runner } from "../rounds.ts";
import { newSecret } from "../service-config.ts";
import type { Measure } from "./measure.ts";

const path = "/api/users/check-token";
const tokens = 1000;
const connections = 20;

/** GET check-token with a thousand living tokens, beside a bare `node:http` server that sends the same bytes. */
export const measureCheckToken: Measure = async (options) => {
  const node = startChild<FieldgateNodeTasks>("fieldgate-node.ts", options.nodeOptions);
  const bare = startChild<BareServerTasks>("bare-server.ts");
  const load = startChild<AutocannonTasks>("autocannon-load.ts");
  const [nodePort, barePort] = [await freePort(), await freePort()];

  options.progress("check-token: signing in a thousand workers");
  const sessions = await node.ask("start", {
    port: nodePort,
    database: { kind: "sqlite", file: join(options.folder, "check-token.db") },
    dataDir: join(options.folder, "check-token"),
    secret: newSecret(),
    jkts: Array.from({ length: tokens }, () => null),
  });
  const requests = sessions.map(({ token }) => ({ path, headers: { authorization: `Bearer ${token}` } }));
  await bare.ask("start", { port: barePort, ...(await realAnswer(nodePort, sessions[0]?.token ?? "")) });

  const shots = (port: number): Runner => {
    const child = port === nodePort ? node : bare;
    return {
      run: (seconds) => load.ask("run", { port, connections, seconds, requests }),
      cpuTime: () => child.ask("cpuTime"),
    };
  };
  const comparison = await compareInRounds("check-token", shots(nodePort), shots(barePort), options);
  await Promise.all([node.end(), bare.end(), load.end()]);
  return [
    {
      name: "check-token, 1,000 tokens",
      ours: comparison.ours,
      theirs: `${comparison.theirs} (bare node:http)`,
      spread: comparison.ratio,
      unit: "ratio",
      target: { atLeast: 0.7 },
      detail: comparison.detail,
    },
  ];
};

/** Node itself adds these to every answer of either server. */
const addedByNode = new Set(["date", "connection", "keep-alive"]);

async function realAnswer(port: number, token: string) {
  const connection = await Connection.open(port);
  const answer = await connection.send(requestText("GET", path, { Authorization: `Bearer ${token}` }));
  connection.close();
  if (answer.status !== 200) throw new Error(`check-token answered ${answer.status}: ${answer.body}`);
  const lines = answer.head.split("\r\n").slice(1);
  const headers = lines.flatMap((line) => {
    const [name = "", ...value] = line.split(": ");
    return addedByNode.has(name.toLowerCase()) ? [] : [name, value.join(": ")];
  });
  return { status: 200, headers, body: answer.body };
}
