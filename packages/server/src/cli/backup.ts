import type { Command } from "commander";
import { writeBackup } from "../backup/write-backup.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { demandNewFile, explainWriting } from "./input-file.ts";
import { showProgress } from "./progress.ts";

export function addBackupCommand(program: Command, cli: CliContext): void {
  const command = defineCommand(program, "backup", {
    summary: "write everything the database holds to one file",
    notes:
      "It may run beside the service: the file holds one state of the database. It is sealed under the deployment\n" +
      "secret, without which it cannot be restored: keep that secret, elsewhere. `fieldgate restore --check` proves a file.",
    examples: [
      ["fieldgate backup", "into a new file here, named after the time"],
      ["fieldgate backup /var/backups/fieldgate.ndjson.gz", "into this new file"],
    ],
  }).argument("[file]", "the file to make (default: fieldgate-TIME.ndjson.gz)");
  onRun(command, cli, async (run) => {
    const stamp = new Date(cli.clock.now()).toISOString().slice(0, 19).replaceAll(":", "").replace("T", "-");
    const path = demandNewFile(cli, run.args[0] ?? `fieldgate-${stamp}Z.ndjson.gz`);
    const { store, config } = await run.deployment();
    const progress = showProgress(cli, "backing up", run.options.json === true);
    const { header, rows, size } = await writeBackup(store, config.secret, path, progress.onProgress)
      .catch(explainWriting(path))
      .finally(progress.end);
    const text = `Wrote ${header.rows.toLocaleString("en")} rows to ${path} (${formatSize(size)}).`;
    return { json: { file: path, createdAt: header.createdAt, schema: header.schema, size, rows }, text };
  });
}

export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const [unit, value] = bytes < 1024 ** 2 ? ["KiB", bytes / 1024] : ["MiB", bytes / 1024 ** 2];
  return `${value.toLocaleString("en", { maximumFractionDigits: 1 })} ${unit}`;
}
