/**
 * A process between the tests and their PostgreSQL server. It lives as long as its standard input, and takes the
 * server and all its files along, so that nothing stays behind even when the tests are killed.
 *
 * Arguments: two folders to remove in the end, uid and gid (or "-"), the command. Input: `start` and `crash`, a word a line;
 * each is answered with a line when it is done.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [home = "", data = "", uid = "-", gid = "-", command = "", ...parameters] = process.argv.slice(2);
const account = uid === "-" ? {} : { uid: Number(uid), gid: Number(gid) };
const log = openSync(join(home, "server.log"), "a");
let server: ChildProcess | undefined;

function start(): void {
  server = spawn(command, parameters, { ...account, cwd: home, stdio: ["ignore", log, log] });
  const started = server;
  server.once("exit", () => {
    if (server === started) server = undefined;
  });
}

async function stop(signal: NodeJS.Signals): Promise<void> {
  if (server === undefined) return;
  const ended = once(server, "exit");
  server.kill(signal);
  await ended;
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
try {
  for await (const word of createInterface({ input: process.stdin })) {
    if (word === "start") start();
    // SIGQUIT: at once and without tidying up, as a power cut would.
    if (word === "crash") await stop("SIGQUIT");
    process.stdout.write(`${word}\n`);
  }
} finally {
  await stop("SIGINT");
  for (const folder of [home, data]) rmSync(folder, { recursive: true, force: true });
}
