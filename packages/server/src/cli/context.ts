import type { Readable } from "node:stream";
import type { Command } from "commander";
import type { Clock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { loadConfig } from "../config/load-config.ts";
import { openStore } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { createKeyVault, type KeyVault } from "../tokens/key-vault.ts";
import { demandFile, demandSchema } from "./database-state.ts";
import { usageMistake } from "./usage-mistake.ts";

export { CliFailure } from "./cli-failure.ts";

/**
 * The world of a command: nothing in `cli/` but this reaches for the process. A command is a file that exports
 * `add…Command(parent, cli)`, which defines it with `defineCommand` and gives `onRun` the work to do.
 */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: Readable & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly clock: Clock;
  /** Tells when the process is asked to end, each time it is. */
  onStopSignal(heard: (signal: "SIGTERM" | "SIGINT") => void): void;
  /** Ends the process at once. */
  exit(code: number): void;
  /** What the process ends with: 0 fine, 1 failed, 2 wrong usage or configuration. */
  exitCode: 0 | 1 | 2;
}

/** Options that every command has. */
export interface CommonOptions {
  readonly json?: true;
  readonly config?: string;
  readonly dev?: true;
}

/** What a command has to say: `json` for machines, `text` for people; only one of them is written. */
export interface Answer {
  readonly json: unknown;
  readonly text: string;
  /** 1 when the command worked but what it looked at is bad, as `doctor` and `journal verify` may find. */
  readonly exitCode?: 0 | 1;
}

/** An open deployment: its configuration, its database and what opens its keys. */
export interface Deployment {
  readonly config: Config;
  readonly store: Store;
  readonly vault: KeyVault;
}

export interface Run<Options> {
  readonly options: Options & CommonOptions;
  /** The arguments, in the order they were defined; an optional one that was left out is undefined. */
  readonly args: readonly (string | undefined)[];
  /** The configuration, read from the environment and the configuration file. */
  config(): Config;
  /** The database, brought up by `init` or `serve` before, and closed when the command is done. */
  deployment(): Promise<Deployment>;
  /** A remark on stderr: it never disturbs what machines read. */
  note(sentence: string): void;
}

export interface CommandText {
  readonly summary: string;
  /** Lines of `fieldgate …`, each with what it is for. */
  readonly examples: readonly (readonly [line: string, purpose: string])[];
  /** More to know, between options and examples. */
  readonly notes?: string;
}

/** Adds a command with the options that all have, and examples at the end of its help. */
export function defineCommand(parent: Command, usage: string, { summary, examples, notes }: CommandText): Command {
  const shown = examples.map(([line, purpose]) => `  # ${purpose}\n  $ ${line}`).join("\n");
  const command = parent.command(usage);
  const takesPassword = () => command.options.some(({ long }) => long === "--password-stdin");
  return command
    .configureOutput({ outputError: (text, write) => write(usageMistake(text, takesPassword())) })
    .summary(summary)
    .description(summary)
    .option("--json", "write JSON to stdout, and nothing else")
    .option("--config <file>", "read settings from this file instead of ./fieldgate.env")
    .option("--dev", "use the development defaults, as `fieldgate serve --dev` does")
    .addHelpText("after", `${notes ? `\n${notes}\n` : ""}\nExamples:\n${shown}`);
}

/**
 * Gives a command its work. Mistakes are thrown; `program.ts` tells them. A command that writes to stdout as it goes
 * has no answer besides, and gives null.
 */
export function onRun<Options extends object>(
  command: Command,
  cli: CliContext,
  work: (run: Run<Options>) => Promise<Answer | null>,
): void {
  command.action(async () => {
    const options = command.opts<Options & CommonOptions>();
    const note = (sentence: string) => void cli.stderr.write(`${sentence}\n`);
    let config: Config | undefined;
    let store: Store | undefined;
    const readConfig = () => {
      config ??= loadConfig(cli.env, {
        cwd: cli.cwd,
        dev: options.dev ?? false,
        ...(options.config !== undefined && { file: options.config }),
        onWarning: note,
      });
      return config;
    };
    const run: Run<Options> = {
      options,
      args: command.processedArgs as (string | undefined)[],
      config: readConfig,
      note,
      async deployment() {
        const { database, secret, previousSecret } = readConfig();
        if (!store) {
          demandFile(readConfig());
          store = await openStore(database, cli.clock);
          await demandSchema(store);
        }
        return { config: readConfig(), store, vault: createKeyVault(secret, previousSecret) };
      },
    };
    try {
      const answer = await work(run);
      if (!answer) return;
      cli.stdout.write(`${options.json ? JSON.stringify(answer.json) : answer.text.replace(/\n$/, "")}\n`);
      cli.exitCode = answer.exitCode ?? 0;
    } finally {
      await store?.close();
    }
  });
}
