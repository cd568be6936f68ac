import type { Command } from "commander";
import { BackupRefused } from "../backup/format.ts";
import { type OpenBackup, openBackup } from "../backup/open-backup.ts";
import { restoreBackup } from "../backup/restore.ts";
import { settleJournal } from "../backup/settle-journal.ts";
import type { Config } from "../config/config.ts";
import { createKeyVault } from "../tokens/key-vault.ts";
import { CliFailure } from "./cli-failure.ts";
import { type Answer, type CliContext, defineCommand, onRun, type Run } from "./context.ts";
import { demandInputFile } from "./input-file.ts";
import { showProgress } from "./progress.ts";
import { confirm } from "./prompt.ts";

interface RestoreOptions {
  readonly check?: true;
  readonly replace?: true;
  readonly yes?: true;
  readonly keepSessions?: true;
}

export function addRestoreCommand(program: Command, cli: CliContext): void {
  const command = defineCommand(program, "restore", {
    summary: "put a backup into an empty database of either kind",
    notes:
      "Stop every node first. All of the backup is restored, or nothing. Everyone signs in again afterwards: sessions,\n" +
      "codes and proofs may have been ended or used since the backup was made.",
    examples: [
      ["fieldgate restore fieldgate.ndjson.gz", "into the empty database of the configuration"],
      ["fieldgate restore fieldgate.ndjson.gz --replace", "throw away what the database holds"],
      ["fieldgate restore fieldgate.ndjson.gz --check", "only prove that the file is whole"],
      [
        "FIELDGATE_DATABASE_URL=postgres://… fieldgate restore fieldgate.ndjson.gz",
        "a backup of SQLite into PostgreSQL: how a small deployment grows",
      ],
    ],
  })
    .argument("<file>", "a file that `fieldgate backup` made")
    .option("--check", "prove that the file is whole, and change nothing")
    .option("--replace", "throw away everything the database holds now")
    .option("--yes", "do not ask")
    .option("--keep-sessions", "leave sessions alive as they were when the backup was made");
  onRun<RestoreOptions>(command, cli, async (run) => {
    const config = run.config();
    const path = demandInputFile(cli, run.args[0] ?? "");
    const secrets = config.previousSecret ? [config.secret, config.previousSecret] : [config.secret];
    try {
      const backup = await openBackup(path, secrets);
      try {
        return run.options.check ? await check(cli, run, backup) : await restore(cli, run, config, backup);
      } finally {
        await backup.close();
      }
    } catch (error) {
      throw error instanceof BackupRefused ? new CliFailure(error.message) : error;
    }
  });
}

async function check(cli: CliContext, run: Run<RestoreOptions>, backup: OpenBackup): Promise<Answer> {
  const { header } = backup;
  const progress = showProgress(cli, "checking", run.options.json === true);
  let done = 0;
  for await (const page of backup.pages()) {
    done += page.rows.length;
    progress.onProgress({ done, total: header.rows, table: page.table });
  }
  progress.end();
  if (done !== header.rows) throw new BackupRefused(`The backup says ${header.rows} rows, but it holds ${done}.`);
  const text =
    `The backup is whole: ${done.toLocaleString("en")} rows of a ${nameOf(header.database)} database, ` +
    `schema ${header.schema}, made by Fieldgate ${header.server} at ${header.createdAt}.`;
  const { createdAt, database, schema, server } = header;
  return { json: { whole: true, rows: done, createdAt, database, schema, server }, text };
}

async function restore(cli: CliContext, run: Run<RestoreOptions>, config: Config, backup: OpenBackup): Promise<Answer> {
  const { replace = false, yes = false, keepSessions = false } = run.options;
  const { database, secret, previousSecret, dataDir } = config;
  if (replace && !yes) {
    const place = database.kind === "sqlite" ? database.file : "the PostgreSQL database";
    await confirm(
      cli,
      `Throw away everything in ${place} and put the backup of ${backup.header.createdAt} in its place?`,
    );
  }
  if (keepSessions) {
    run.note(
      "warning: sessions that were ended since the backup (log-outs, lost phones, changed passwords) live again. " +
        "End them with `fieldgate sessions end`.",
    );
  }
  const { clock } = cli;
  const progress = showProgress(cli, "restoring", run.options.json === true);
  const { onProgress } = progress;
  const { rows, sessionsEnded } = await restoreBackup(backup, {
    database,
    clock,
    secret,
    previousSecret,
    replace,
    keepSessions,
    onProgress,
  }).finally(progress.end);

  const vault = createKeyVault(secret, previousSecret);
  const tell = (_facts: object, message: string) => run.note(`warning: ${message}`);
  const log = { info: () => undefined, warn: tell, error: tell };
  const aside = await settleJournal({ database, clock, vault, dataDir, log });
  const { createdAt } = backup.header;
  const lines = [
    `Restored ${backup.header.rows.toLocaleString("en")} rows, as they were at ${createdAt}.`,
    keepSessions
      ? "Sessions live on as they were then."
      : `${sessionsEnded === 1 ? "1 session was" : `${sessionsEnded.toLocaleString("en")} sessions were`} ended: people sign in again.`,
    ...(aside === null ? [] : [`The journal's earlier checkpoints, of events that may be lost, are in ${aside}.`]),
    "Start the service again with `fieldgate serve`.",
  ];
  return { json: { createdAt, rows, sessionsEnded, earlierCheckpoints: aside }, text: lines.join("\n") };
}

const nameOf = (kind: "sqlite" | "postgres") => (kind === "sqlite" ? "SQLite" : "PostgreSQL");
