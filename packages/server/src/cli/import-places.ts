import { accessSync, constants } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type Checkpoint, readCheckpoint } from "../people/import/checkpoint.ts";
import { CliFailure } from "./cli-failure.ts";
import type { CliContext, Run } from "./context.ts";
import { demandInputFile } from "./input-file.ts";

/** Where an import reads and writes. */
export interface ImportPlaces {
  /** Null for stdin. */
  readonly file: string | null;
  readonly rejects: string;
  /** Null for stdin, which cannot be read again. */
  readonly checkpoint: string | null;
}

export function placesOf(cli: CliContext, name: string, rejects: string | undefined): ImportPlaces {
  const file = name === "-" ? null : demandInputFile(cli, name);
  const path = resolve(cli.cwd, rejects ?? `${file ?? "stdin"}.rejects.csv`);
  demandFolder(dirname(path));
  const checkpoint = file === null ? null : join(dirname(path), `${basename(file)}.checkpoint.json`);
  return { file, rejects: path, checkpoint };
}

/** Before hours of work: rejected rows and how far it has come are written there. */
function demandFolder(folder: string): void {
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    throw new CliFailure(`Nothing can be written in ${folder}. Say with --rejects FILE where rejected rows may go.`, 2);
  }
}

export interface ResumeOptions {
  readonly resume?: true;
  readonly fromLine?: string;
  readonly dryRun?: true;
}

/** What an earlier run over the same file left behind, where it is to be gone on with. */
export async function findEarlier(
  run: Run<ResumeOptions>,
  { checkpoint }: ImportPlaces,
  tenantId: string,
  fileSize: number | null,
): Promise<Checkpoint | null> {
  const { resume, fromLine, dryRun } = run.options;
  if (resume && (fromLine !== undefined || dryRun)) {
    throw new CliFailure("--resume goes on where an import stopped: leave --from-line and --dry-run out.", 2);
  }
  const found =
    checkpoint === null || fileSize === null ? null : await readCheckpoint(checkpoint, { tenantId, fileSize });
  if (resume && !found) {
    throw new CliFailure(
      `No interrupted import of this file into ${tenantId} is known${checkpoint === null ? "" : ` (${checkpoint})`}. ` +
        "Leave --resume out: importing rows again changes nothing.",
    );
  }
  if (found && !resume && fromLine === undefined && !dryRun) {
    run.note(`note: an earlier import of this file stopped after line ${found.line}; --resume goes on from there.`);
  }
  return resume ? found : null;
}

export function howToGoOn({ file }: ImportPlaces, tenantId: string, line: number): string {
  const how = file === null ? `--from-line ${line + 1}` : "--resume";
  return `Go on with: fieldgate beneficiary import ${file ?? "-"} --tenant ${tenantId} ${how}`;
}
