/** `npm test`: the checks, then every test. Its last line is `N passed, N failed, N skipped`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { type Report, tally } from "./tally.ts";

const root = resolve(import.meta.dirname, "..");
const reportFile = join(root, ".test-output", "vitest.json");

const nodeVersion = Number(process.versions.node.split(".")[0]);
if (nodeVersion < 24) {
  console.error(
    `The tests need Node 24 or later, and this is ${process.version}. ` +
      "Run them with `npm test`: `npm ci` has put the right Node beside the other tools.",
  );
  console.log("0 passed, 1 failed, 0 skipped");
  process.exit(1);
}

/** Runs a tool of `node_modules/.bin`, in front of the reader's eyes; gives its exit code, null when it was killed. */
async function run(title: string, command: string, ...parameters: string[]): Promise<number | null> {
  console.log(`\n── ${title}: ${command} ${parameters.join(" ")}`);
  const PATH = [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter);
  const child = spawn(command, parameters, { cwd: root, env: { ...process.env, PATH }, stdio: "inherit" });
  const [code] = await once(child, "exit");
  return code;
}

function readReport(): Report | null {
  return existsSync(reportFile) ? JSON.parse(readFileSync(reportFile, "utf8")) : null;
}

const selection = process.argv.slice(2);
const checks = [
  await run("types", "npm", "run", "--silent", "check:types"),
  await run("style", "npm", "run", "--silent", "check:style"),
];
rmSync(reportFile, { force: true });
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
const code = await run("tests", "vitest", "run", ...reporters, ...selection);

const { passed, failed, skipped } = tally(readReport(), code, checks.filter((check) => check !== 0).length);
console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed === 0 ? 0 : 1;
