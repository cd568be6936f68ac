import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bundle } from "./bundle.ts";
import { compressFolder } from "./compress.ts";

const home = resolve(import.meta.dirname, "..");
const packages = resolve(home, "..");

/** Where the built portal lies. */
export const portalFolder = join(home, "dist");
const stampFile = join(portalFolder, ".sources");
const lock = join(home, ".building");
/** Longer than any build: what is older was left by one that was killed. */
const lockLife = 120_000;

/** Builds the portal if its sources have changed since it was built. Gives its folder; `true`: it was built now. */
export async function buildPortal(): Promise<{ readonly folder: string; readonly built: boolean }> {
  const stamp = hashOfSources();
  const isUpToDate = () => existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp;
  for (const start = Date.now(); !isUpToDate(); await sleep(100)) {
    if (!takeLock(Date.now() - start > lockLife)) continue;
    try {
      if (!isUpToDate()) await build(stamp);
      return { folder: portalFolder, built: true };
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
  }
  return { folder: portalFolder, built: false };
}

/** One build at a time: two starts, or two tests, must not write over each other. */
function takeLock(force: boolean): boolean {
  if (force) rmSync(lock, { recursive: true, force: true });
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Aside first, so that a reader finds the old one or the new one and never half of it. */
async function build(stamp: string): Promise<void> {
  const aside = join(lock, "dist");
  const files = await bundle(home, aside, stamp.slice(0, 12));
  writeFileSync(join(aside, "portal.json"), JSON.stringify(files));
  compressFolder(aside);
  writeFileSync(join(aside, ".sources"), stamp);
  rmSync(portalFolder, { recursive: true, force: true });
  renameSync(aside, portalFolder);
}

function hashOfSources(): string {
  const hash = createHash("sha256");
  const patterns = [
    "portal/{src,public,build}/**/*.*",
    "{client,contract}/src/**/*.ts",
    "{portal,client,contract}/package.json",
  ];
  const files = globSync(patterns, { cwd: packages }).filter((file) => !file.endsWith(".test.ts"));
  for (const file of files.toSorted()) {
    hash.update(`${file}\0`).update(readFileSync(join(packages, file)));
  }
  return hash.digest("hex");
}
