import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { endChildren } from "../service/children.ts";
import { type Finding, isMet, type MeasureOptions } from "../service/measures/measure.ts";
import { table } from "../service/table.ts";
import { OptionError } from "./option-values.ts";

export interface BenchmarkOptions {
  readonly rounds: number;
  readonly seconds: number;
  /** Where to write a CPU profile of the service; null: nowhere. */
  readonly profile: string | null;
  readonly help: boolean;
}

export interface Benchmark<Options extends BenchmarkOptions> {
  readonly resultFile: string;
  readonly help: string;
  parseOptions(args: readonly string[]): Options;
  /** The measures to take, in their order. */
  measures(options: Options): readonly ((options: MeasureOptions) => Promise<Finding[]>)[];
}

/** One benchmark from its command line to its exit code: 1 when a target is missed, 2 when it could not be run. */
export function runBenchmark<Options extends BenchmarkOptions>(benchmark: Benchmark<Options>): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void endChildren().then(() => process.exit(signal === "SIGINT" ? 130 : 143)));
  }
  run(benchmark).catch((error: unknown) => {
    const isTold = error instanceof OptionError || error instanceof AggregateError;
    process.stderr.write(`${isTold ? error.message : describe(error)}\n`);
    process.exitCode = 2;
  });
}

async function run<Options extends BenchmarkOptions>(benchmark: Benchmark<Options>): Promise<void> {
  const options = benchmark.parseOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(benchmark.help);
    return;
  }
  const { findings, failures } = await measureAll(benchmark, options);
  writeResults(benchmark.resultFile, options, findings);
  process.stdout.write(`\n${table(findings)}\n\n${machine()}\n`);
  const missed = findings.filter((finding) => !isMet(finding));
  for (const { name } of missed) process.stdout.write(`Missed: ${name}\n`);
  process.exitCode = missed.length === 0 ? 0 : 1;
  // What was measured is told all the same.
  if (failures.length > 0) throw new AggregateError(failures, failures.map(describe).join("\n"));
}

async function measureAll<Options extends BenchmarkOptions>(
  benchmark: Benchmark<Options>,
  options: Options,
): Promise<{ findings: Finding[]; failures: unknown[] }> {
  const folder = mkdtempSync(join(tmpdir(), "fieldgate-bench-"));
  const nodeOptions = options.profile === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${resolve(options.profile)}`];
  try {
    const findings: Finding[] = [];
    const failures: unknown[] = [];
    for (const measure of benchmark.measures(options)) {
      try {
        findings.push(...(await measure({ ...options, folder, nodeOptions, progress })));
      } catch (error) {
        failures.push(error);
        await endChildren();
      }
    }
    return { findings, failures };
  } finally {
    progress("");
    await endChildren();
    rmSync(folder, { recursive: true, force: true });
  }
}

const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

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

function writeResults(file: string, options: BenchmarkOptions, findings: readonly Finding[]): void {
  const { help: _help, profile: _profile, ...settings } = options;
  const results = {
    at: new Date().toISOString(),
    machine: machine(),
    ...settings,
    findings: findings.map((finding) => ({ ...finding, met: isMet(finding) })),
  };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(results, rounded, 1)}\n`);
}

/** Four digits say all that a measurement knows. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}
