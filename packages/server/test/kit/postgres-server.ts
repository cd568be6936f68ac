import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import {
  type Account,
  accountForPostgres,
  memoryFolder,
  providePostgres,
  reachableTempFolder,
} from "./postgres-binaries.ts";

export interface PostgresServer {
  /** The address of a database on this server. */
  url(database?: string): string;
  /** Runs statements one after the other on the server's own database, as its superuser. */
  run(...statements: string[]): Promise<void>;
  /** Ends the server without a warning; its files stay. */
  crash(): Promise<void>;
  /** Starts it again at the same address after a crash. */
  restart(): Promise<void>;
  /** Stops the server and removes its files. */
  stop(): Promise<void>;
}

interface Place {
  readonly account: Account;
  /** With `bin`, `lib` and `share`. */
  readonly native: string;
  readonly home: string;
  readonly data: string;
  readonly password: string;
}

/**
 * A real PostgreSQL server in a temporary folder, on a free port of the loopback address, with `fsync` on.
 * `inMemory`: its data lies in memory where there is enough of it, so that making and dropping databases is quick.
 */
export async function startPostgres(options: { readonly inMemory?: boolean } = {}): Promise<PostgresServer> {
  const account = accountForPostgres();
  const temp = reachableTempFolder();
  const home = mkdtempSync(join(temp, "fieldgate-postgres-"));
  const data = mkdtempSync(join(options.inMemory ? memoryFolder(temp) : temp, "fieldgate-postgres-data-"));
  try {
    if (account !== null) for (const folder of [home, data]) chownSync(folder, account.uid, account.gid);
    const native = providePostgres(account, home);
    const place = { account, native, home, data, password: randomBytes(16).toString("hex") };
    initialise(place);
    return await launch(place);
  } catch (error) {
    for (const folder of [home, data]) rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function initialise({ account, native, home, data, password }: Place): void {
  const passwordFile = join(home, "password");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (account !== null) chownSync(passwordFile, account.uid, account.gid);
  const result = spawnSync(
    join(native, "bin", "initdb"),
    ["-D", data, "-U", "postgres", `--pwfile=${passwordFile}`, "-A", "scram-sha-256"].concat(
      // Files that nobody has yet need no sync; the server itself keeps its promises.
      ["--no-sync", "--no-instructions", "-E", "UTF8", "--locale=C"],
    ),
    { ...account, cwd: home, encoding: "utf8" },
  );
  if (result.status !== 0) throw new Error(`initdb failed: ${result.error?.message ?? result.stderr}`);
}

async function launch({ account, native, home, data, password }: Place): Promise<PostgresServer> {
  const port = await freePort();
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"];
  const guard = spawn(
    process.execPath,
    [
      fileURLToPath(new URL("postgres-guard.ts", import.meta.url)),
      home,
      data,
      String(account?.uid ?? "-"),
      String(account?.gid ?? "-"),
      join(native, "bin", "postgres"),
      ...["-D", data, "-p", String(port)],
      ...settings.flatMap((setting) => ["-c", setting]),
    ],
    // In a process group of its own, so that Ctrl-C ends the tests first and the server after them.
    { detached: true, stdio: ["pipe", "pipe", "inherit"] },
  );
  const ask = lineByLine(guard);
  const url = (database = "postgres") => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;

  async function start(): Promise<void> {
    await ask("start");
    await answering(url(), join(home, "server.log"));
  }
  async function stop(): Promise<void> {
    if (guard.exitCode !== null) return;
    const ended = once(guard, "exit");
    guard.stdin?.end();
    await ended;
  }

  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, run: (...statements) => run(url(), statements), crash: () => ask("crash"), restart: start, stop };
}

function lineByLine(guard: ChildProcess): (word: string) => Promise<void> {
  if (guard.stdout === null || guard.stdin === null) throw new Error("The guard of PostgreSQL has no pipes.");
  const { stdin } = guard;
  const lines = createInterface({ input: guard.stdout })[Symbol.asyncIterator]();
  return async (word) => {
    stdin.write(`${word}\n`);
    const { done } = await lines.next();
    if (done) throw new Error("The guard of PostgreSQL has ended.");
  };
}

async function answering(url: string, log: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    try {
      return await run(url, ["select 1"]);
    } catch {
      await sleep(50);
    }
  }
  throw new Error(
    `PostgreSQL did not start within 15 s. Its log ends with:\n${readFileSync(log, "utf8").slice(-2000)}`,
  );
}

async function run(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on("error", () => {});
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("No port of the loopback address is free.");
  return address.port;
}
