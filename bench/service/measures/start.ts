import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startProgram } from "../children.ts";
import { Connection, requestText } from "../connection.ts";
import { freePort } from "../free-port.ts";
import { spreadOf } from "../statistics.ts";
import type { Measure, MeasureOptions } from "./measure.ts";

const program = fileURLToPath(new URL("../../../packages/server/bin/fieldgate.js", import.meta.url));
const patienceMs = 60_000;

interface Start {
  readonly seconds: number;
  /** Seconds of processor time: what the start costs, however busy the machine is. */
  readonly cpuSeconds: number;
  readonly megabytes: number;
}

/** `fieldgate serve --dev` on a database that is there: how soon it answers, and how much memory it has then. */
export const measureStart: Measure = async (options) => {
  options.progress("start: the first one makes the database");
  await startOnce(options);
  const starts: Start[] = [];
  for (let round = 1; round <= options.rounds; round += 1) {
    options.progress(`start: ${round} of ${options.rounds}`);
    starts.push(await startOnce(options));
  }
  const cpu = spreadOf(starts.map(({ cpuSeconds }) => cpuSeconds)).median;
  const shared = { theirs: "", detail: { starts } } as const;
  return [
    {
      name: "start to first answer",
      ours: `${cpu.toFixed(2)} s CPU`,
      ...shared,
      spread: spreadOf(starts.map(({ seconds }) => seconds)),
      unit: "s",
      target: { atMost: 1.5 },
    },
    {
      name: "memory after the start",
      ours: "",
      ...shared,
      spread: spreadOf(starts.map(({ megabytes }) => megabytes)),
      unit: "MB",
      target: { atMost: 160 },
    },
  ];
};

async function startOnce({ folder }: MeasureOptions): Promise<Start> {
  const port = await freePort();
  const startedAt = performance.now();
  const service = startProgram([program, "serve", "--dev"], {
    cwd: folder,
    env: { PORT: String(port), FIELDGATE_DATA_DIR: join(folder, "start") },
  });
  await firstAnswer(port, startedAt + patienceMs);
  const seconds = (performance.now() - startedAt) / 1000;
  const cpuSeconds = processorSeconds(service.pid);
  // What belongs to the start but not to the first answer has been done by then.
  await sleep(500);
  const megabytes = residentMegabytes(service.pid);
  await service.end();
  return { seconds, cpuSeconds, megabytes };
}

/** Asks again and again, as a balancer would, until the service says that it is ready. */
async function firstAnswer(port: number, deadline: number): Promise<void> {
  while (performance.now() < deadline) {
    try {
      const connection = await Connection.open(port);
      const { status } = await connection.send(requestText("GET", "/readyz", {}));
      connection.close();
      if (status === 200) return;
    } catch {
      // Nobody listens yet.
    }
    await sleep(5);
  }
  throw new Error("The service did not start within a minute.");
}

function residentMegabytes(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return (Number(kibibytes) * 1024) / 1e6;
}

/** From `/proc`, which counts user and system time in hundredths of a second. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
