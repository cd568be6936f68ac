import { once } from "node:events";
import { type FileHandle, open, rm } from "node:fs/promises";
import type { Command } from "commander";
import { exportJournal } from "../journal/export.ts";
import type { JournalFilter } from "../journal/read-journal.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { demandNewFile, explainWriting } from "./input-file.ts";

interface ExportOptions {
  readonly output?: string;
  readonly tenant?: string;
  readonly from?: string;
  readonly to?: string;
  readonly type?: string;
}

export function addJournalExportCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "export", {
    summary: "write the sealed events as lines of JSON, with what proves them",
    notes:
      "The format is described in docs/journal.md. An export without --from, --to and --type can be verified by anyone\n" +
      "with `fieldgate journal verify --export FILE`. Events of the last second may not be sealed yet, and are left out.",
    examples: [
      ["fieldgate journal export --tenant kenya --output kenya.ndjson", "one tenant, for its auditor"],
      ["fieldgate journal export --type login.failed --from 2026-01-01 | jq .", "to look through, not to verify"],
    ],
  })
    .option("--output <file>", "write to this new file, readable by its owner alone, instead of stdout")
    .option("--tenant <id>", "only this tenant's journal")
    .option("--from <time>", "only events at or after this ISO 8601 time")
    .option("--to <time>", "only events before this ISO 8601 time")
    .option("--type <type>", "only events of this type, such as login.failed");
  onRun<ExportOptions>(command, cli, async (run) => {
    const { options } = run;
    const filter: JournalFilter = {
      tenantId: options.tenant,
      from: parseTime("--from", options.from),
      to: parseTime("--to", options.to),
      type: options.type,
    };
    const path = options.output === undefined ? null : demandNewFile(cli, options.output);
    const { store } = await run.deployment();
    const isWhole = [filter.from, filter.to, filter.type].every((each) => each === undefined);
    if (!isWhole) run.note("note: a filtered export has holes in its chain and cannot be verified.");
    if (path === null) {
      await store.snapshot(async (q) => {
        for await (const piece of inPieces(exportJournal(q, filter))) {
          if (!cli.stdout.write(piece)) await once(cli.stdout, "drain");
        }
      });
      return null;
    }
    const end = await store.snapshot((q) => writeTo(path, exportJournal(q, filter))).catch(explainWriting(path));
    const { events, checkpoints } = JSON.parse(end) as { events: number; checkpoints: number };
    const text = `Wrote ${events.toLocaleString("en")} events and ${checkpoints.toLocaleString("en")} checkpoints to ${path}.`;
    return { json: { file: path, events, checkpoints, verifiable: isWhole }, text };
  });
}

/** Writes the lines to a new file, or leaves none. Returns the last one. */
async function writeTo(path: string, lines: AsyncIterable<string>): Promise<string> {
  const file: FileHandle = await open(path, "wx", 0o600);
  let last = "";
  try {
    for await (const piece of inPieces(lines)) {
      await file.appendFile(piece);
      last = piece;
    }
    await file.sync();
  } catch (error) {
    await rm(path);
    throw error;
  } finally {
    await file.close();
  }
  return last.trimEnd().split("\n").at(-1) ?? "";
}

/** Lines in pieces that are worth a write. */
async function* inPieces(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = "";
  for await (const line of lines) {
    piece += line;
    if (piece.length < 65_536) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

function parseTime(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (Number.isNaN(time)) {
    throw new CliFailure(
      `${option} must be an ISO 8601 date, or time with its zone, such as 2026-01-31T08:00:00Z: got "${text}".`,
      2,
    );
  }
  return time;
}
