import { Command, CommanderError } from "commander";
import { ConfigError } from "../config/config-error.ts";
import { didYouMean } from "../config/suggest.ts";
import { Fault } from "../fault.ts";
import { SchemaMismatch } from "../store/migrate.ts";
import { StoreUnavailable } from "../store/store.ts";
import { KeyVaultError } from "../tokens/key-vault.ts";
import { serverVersion } from "../version.ts";
import { addBackupCommand } from "./backup.ts";
import { addBeneficiaryCommands } from "./beneficiary.ts";
import { addCardCommands } from "./card.ts";
import { CliFailure } from "./cli-failure.ts";
import type { CliContext } from "./context.ts";
import { addDoctorCommand } from "./doctor.ts";
import { addInitCommand } from "./init.ts";
import { addIssuerCommands } from "./issuer.ts";
import { addJournalCommands } from "./journal.ts";
import { addKeysCommands } from "./keys.ts";
import { addProposalCommands } from "./proposal.ts";
import { addRestoreCommand } from "./restore.ts";
import { addSecretCommands } from "./secret.ts";
import { addServeCommand } from "./serve.ts";
import { addSessionsCommands } from "./sessions.ts";
import { addTenantCommands } from "./tenant.ts";
import { usageMistake } from "./usage-mistake.ts";
import { addUserCommands } from "./user.ts";

const footer = `Every command takes --help, --json, --config FILE and --dev. Exit codes: 0 done, 1 failed, 2 wrong usage or
configuration. Mistakes are told on stderr. Commands may run beside the service: it follows within 5 seconds.

Begin with:
  $ fieldgate init
  $ fieldgate serve`;

/** The whole command line. Building it opens nothing. */
export function createProgram(cli: CliContext): Command {
  const program = new Command("fieldgate")
    .description("Fieldgate signs in field workers and citizens, and gives each a token that later calls use.")
    .version(serverVersion, "-V, --version")
    .helpCommand("help [command]", "show the help of a command")
    .addHelpText("after", `\n${footer}`)
    .showHelpAfterError("(add --help for the ways to use it)")
    .configureOutput({
      writeOut: (text) => void cli.stdout.write(text),
      writeErr: (text) => void cli.stderr.write(text),
      outputError: (text, write) => write(usageMistake(text, false)),
    })
    .exitOverride();
  program.commandsGroup("Start:");
  addInitCommand(program, cli);
  addServeCommand(program, cli);
  addDoctorCommand(program, cli);
  program.commandsGroup("People:");
  addTenantCommands(program, cli);
  addUserCommands(program, cli);
  addSessionsCommands(program, cli);
  addBeneficiaryCommands(program, cli);
  addCardCommands(program, cli);
  addProposalCommands(program, cli);
  addIssuerCommands(program, cli);
  program.commandsGroup("Keys and records:");
  addKeysCommands(program, cli);
  addSecretCommands(program, cli);
  addJournalCommands(program, cli);
  addBackupCommand(program, cli);
  addRestoreCommand(program, cli);
  return program;
}

/** Runs one command line; every mistake ends as a sentence on stderr and an exit code. */
export async function runCommandLine(args: readonly string[], cli: CliContext): Promise<void> {
  try {
    const program = createProgram(cli);
    demandHelpOfCommand(program, args);
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    const { sentence, exitCode } = explain(error);
    if (sentence !== "") cli.stderr.write(`${sentence}\n`);
    cli.exitCode = exitCode;
  }
}

/** `help` with a name that is none would show the whole help, as if nothing were wrong. */
function demandHelpOfCommand(program: Command, args: readonly string[]): void {
  const words = args.slice(0, 3).filter((word) => !word.startsWith("-"));
  if (!words.slice(0, 2).includes("help")) return;
  let group = program;
  for (const word of words.filter((name) => name !== "help")) {
    const found = group.commands.find((command) => command.name() === word);
    if (!found && group.commands.length > 0) {
      const names = group.commands.map((command) => command.name());
      group.error(`error: unknown command '${word}'.${didYouMean(word, names)}`);
    }
    group = found ?? group;
  }
}

function explain(error: unknown): { sentence: string; exitCode: 0 | 1 | 2 } {
  // Commander has written its own sentence already; help and version are no mistakes.
  if (error instanceof CommanderError) return { sentence: "", exitCode: error.exitCode === 0 ? 0 : 2 };
  if (error instanceof ConfigError) return { sentence: error.message, exitCode: 2 };
  if (error instanceof CliFailure) return { sentence: `error: ${error.message}`, exitCode: error.exitCode };
  const known = [Fault, KeyVaultError, StoreUnavailable, SchemaMismatch].some((kind) => error instanceof kind);
  if (known) return { sentence: `error: ${(error as Error).message}`, exitCode: 1 };
  const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { sentence: `error: Something unexpected happened. Please report this:\n${told}`, exitCode: 1 };
}
