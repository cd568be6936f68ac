import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { parseSecret } from "../config/secret.ts";
import { rewrapSecrets } from "../flows/rewrap-secrets.ts";
import { createKeyVault } from "../tokens/key-vault.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { defineGroup } from "./group.ts";
import { askHidden, canAsk, readStdin } from "./prompt.ts";

export function addSecretCommands(program: Command, cli: CliContext): void {
  addSecretRotateCommand(defineGroup(program, "secret", "replace the deployment secret"), cli);
}

interface RotateOptions {
  readonly generate?: string;
  readonly newSecretFile?: string;
  readonly newSecretStdin?: true;
}

function addSecretRotateCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "rotate", {
    summary: "wrap every key with a new deployment secret",
    notes: "Running nodes go on with the keys they have opened. Restart them with the new secret soon.",
    examples: [
      ["fieldgate secret rotate --generate new-secret", "make a secret into a new file that only its owner can read"],
      ["fieldgate secret rotate --new-secret-file /run/secrets/fieldgate", "one that a secret store made"],
      ["openssl rand -base64 32 | tee new-secret | fieldgate secret rotate --new-secret-stdin", "from a pipe"],
    ],
  })
    .option("--generate <file>", "make a new secret and write it to this new file")
    .option("--new-secret-file <file>", "read the new secret from this file")
    .option("--new-secret-stdin", "read the new secret from stdin");
  onRun<RotateOptions>(command, cli, async (run) => {
    const { store, vault, config } = await run.deployment();
    const { text, writtenTo } = await newSecret(cli, run.options);
    const verdict = parseSecret(text);
    if ("problem" in verdict) throw new CliFailure(`The new secret ${verdict.problem}`);
    const next = createKeyVault(verdict.secret);
    if (next.secretId === vault.secretId && config.previousSecret === null) {
      throw new CliFailure("The new secret is the one in use. Make another with --generate FILE.");
    }
    const keys = await store
      .transaction((tx) => rewrapSecrets(tx, vault, next))
      .catch((error: unknown) => {
        // A connection lost at the last moment leaves open whether the keys are wrapped anew: the secret must not go.
        if (writtenTo !== null) {
          run.note(
            `The new secret stays in ${writtenTo}. Delete it only when \`fieldgate doctor\` opens the keys without it.`,
          );
        }
        throw error;
      });
    const where = writtenTo === null ? "the new secret" : `the content of ${writtenTo}`;
    const steps = [
      `In the configuration of every node set FIELDGATE_SECRET to ${where},`,
      "   and FIELDGATE_SECRET_PREVIOUS to the secret that was in use until now.",
      "2. Restart the nodes one by one.",
      "3. When all are restarted, take FIELDGATE_SECRET_PREVIOUS away. Keep the old secret only for old backups.",
    ];
    return {
      json: { keys, secretId: next.secretId, file: writtenTo },
      text: `Wrapped ${keys} keys with the new secret. Now:\n1. ${steps.join("\n")}`,
    };
  });
}

async function newSecret(cli: CliContext, options: RotateOptions): Promise<{ text: string; writtenTo: string | null }> {
  const { generate, newSecretFile, newSecretStdin } = options;
  if ([generate, newSecretFile, newSecretStdin].filter((choice) => choice !== undefined).length > 1) {
    throw new CliFailure("Choose one of --generate, --new-secret-file and --new-secret-stdin.", 2);
  }
  if (generate !== undefined) {
    const writtenTo = resolve(cli.cwd, generate);
    const text = randomBytes(32).toString("base64");
    writeNew(writtenTo, text);
    return { text, writtenTo };
  }
  if (newSecretFile !== undefined) return { text: readText(resolve(cli.cwd, newSecretFile)), writtenTo: null };
  if (newSecretStdin) return { text: (await readStdin(cli, "a secret")).trim(), writtenTo: null };
  if (!canAsk(cli)) {
    throw new CliFailure(
      "Say where the new secret comes from: --generate FILE, --new-secret-file FILE or --new-secret-stdin.",
      2,
    );
  }
  return { text: (await askHidden(cli, "The new secret (it is not shown)")).trim(), writtenTo: null };
}

function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, `${text}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    const taken = error instanceof Error && "code" in error && error.code === "EEXIST";
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliFailure(taken ? `${file} exists already. Name a new file.` : `${file} cannot be written: ${reason}`);
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new CliFailure(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
