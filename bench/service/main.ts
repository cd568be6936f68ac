import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { endChildren } from "./children.ts";
import { measureCheckToken } from "./measures/check-token.ts";
import { measureLogin } from "./measures/login.ts";
import { type Finding, isMet, type Measure } from "./measures/measure.ts";
import { measureRefresh } from "./measures/refresh.ts";
import { measureStart } from "./measures/start.ts";
import { help, type MeasureName, OptionError, type Options, parseOptions } from "./options.ts";
import { table } from "./table.ts";

const resultFile = fileURLToPath(new URL("../results/service.json", import.meta.url));

const measures: Readonly<Record<MeasureName, Measure>> = {
  "check-token": measureCheckToken,
  login: measureLogin,
  refresh: measureRefresh,
  start: measureStart,
};

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(help);
    return;
  }
  const findings = await measureAll(options);
  writeResults(options, findings);
  process.stdout.write(`\n${table(findings)}\n\n${machine()}\n`);
  const missed = findings.filter((finding) => !isMet(finding));
  for (const { name } of missed) process.stdout.write(`Missed: ${name}\n`);
  process.exitCode = missed.length === 0 ? 0 : 1;
}

async function measureAll(options: Options): Promise<Finding[]> {
  const folder = mkdtempSync(join(tmpdir(), "fieldgate-bench-"));
  const nodeOptions = options.profile === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${resolve(options.profile)}`];
  try {
    const findings: Finding[] = [];
    for (const name of options.only)
      findings.push(...(await measures[name]({ ...options, folder, nodeOptions, progress })));
    return findings;
  } finally {
    progress("");
    await endChildren();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** On a terminal one line that is replaced; elsewhere a line each. */
function progress(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`);
  else if (line !== "") process.stderr.write(`${line}\n`);
}

function machine(): string {
  const [load = 0] = loadavg();
  const model = cpus()[0]?.model ?? "unknown processor";
  return `Node ${process.versions.node}, ${availableParallelism()} × ${model}, load average ${load.toFixed(1)}`;
}

function writeResults({ rounds, seconds }: Options, findings: readonly Finding[]): void {
  const results = {
    at: new Date().toISOString(),
    machine: machine(),
    rounds,
    seconds,
    findings: findings.map((finding) => ({ ...finding, met: isMet(finding) })),
  };
  mkdirSync(dirname(resultFile), { recursive: true });
  writeFileSync(resultFile, `${JSON.stringify(results, rounded, 1)}\n`);
}

/** Four digits say all that a measurement knows. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void endChildren().then(() => process.exit(signal === "SIGINT" ? 130 : 143)));
}

main().catch((error: unknown) => {
  const told = error instanceof OptionError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${told}\n`);
  process.exitCode = 2;
});
