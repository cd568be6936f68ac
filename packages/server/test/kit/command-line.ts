import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { CliContext } from "../../src/cli/context.ts";
import { runCommandLine } from "../../src/cli/program.ts";
import { systemClock } from "../../src/clock.ts";
import type { DatabaseConfig } from "../../src/config/config.ts";

export const bin = fileURLToPath(new URL("../../bin/fieldgate.js", import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  /** What stdin holds. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A place to run commands in: a folder of its own, and an environment that no one else's variables reach. */
export class CommandLine {
  readonly cwd = mkdtempSync(join(tmpdir(), "fieldgate-cli-"));
  readonly env: Readonly<Record<string, string>>;
  readonly #program: string;

  constructor(env: Readonly<Record<string, string>> = {}, program = bin) {
    this.#program = program;
    this.env = { PATH: process.env.PATH ?? "", HOME: this.cwd, ...env };
  }

  /** Starts the real program as a process of its own. */
  spawn(args: readonly string[], { env = {} }: CommandOptions = {}): ChildProcessWithoutNullStreams {
    return spawn(process.execPath, [this.#program, ...args], { cwd: this.cwd, env: { ...this.env, ...env } });
  }

  /** Runs the real program to its end. */
  async run(args: readonly string[], options: CommandOptions = {}): Promise<Outcome> {
    const child = this.spawn(args, options);
    child.stdin.end(options.input ?? "");
    return outcomeOf(child);
  }

  /** Runs one that must work, and gives what it says with --json. */
  async json<T = Record<string, unknown>>(args: readonly string[], options: CommandOptions = {}): Promise<T> {
    return answerOf<T>(args, await this.run([...args, "--json"], options));
  }

  /** The same command line without a process around it, for the many small mistakes. */
  async runHere(args: readonly string[], { input = "", env = {} }: CommandOptions = {}): Promise<Outcome> {
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    const cli: CliContext = {
      env: { ...this.env, ...env },
      cwd: this.cwd,
      stdin: Readable.from([Buffer.from(input)]),
      stdout,
      stderr,
      clock: systemClock,
      onStopSignal: () => undefined,
      exit: () => undefined,
      exitCode: 0,
    };
    await runCommandLine(args, cli);
    stdout.end();
    stderr.end();
    return { code: cli.exitCode, stdout: await text(stdout), stderr: await text(stderr) };
  }

  async jsonHere<T = Record<string, unknown>>(args: readonly string[], options: CommandOptions = {}): Promise<T> {
    return answerOf<T>(args, await this.runHere([...args, "--json"], options));
  }

  remove(): void {
    rmSync(this.cwd, { recursive: true, force: true });
  }
}

function answerOf<T>(args: readonly string[], { code, stdout, stderr }: Outcome): T {
  if (code !== 0) throw new Error(`fieldgate ${args.join(" ")} ended with ${code}: ${stderr}${stdout}`);
  return JSON.parse(stdout) as T;
}

export async function outcomeOf(child: ChildProcessWithoutNullStreams): Promise<Outcome> {
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("close", resolve);
    child.once("error", reject);
  });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}

export function databaseUrl(config: DatabaseConfig): string {
  return config.kind === "postgres" ? config.url : `sqlite:${config.file}`;
}

export const newSecret = (): string => randomBytes(32).toString("base64");
