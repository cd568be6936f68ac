import { randomUUID } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { type Command, Option } from "commander";
import { createDataKeys } from "../people/data-keys.ts";
import { removeCheckpoint, writeCheckpoint } from "../people/import/checkpoint.ts";
import { type ImportCounts, importPeople } from "../people/import/import-people.ts";
import { ImportRefused } from "../people/import/import-refused.ts";
import { demandText, formatByName, type ImportFormat, openSource } from "../people/import/open-source.ts";
import { openRejectFile } from "../people/import/reject-file.ts";
import { personColumns } from "../people/person-columns.ts";
import { prepareForMany } from "../store/bulk.ts";
import { chosenTenant, type TenantOption, tenantOption } from "./choose.ts";
import { CliFailure } from "./cli-failure.ts";
import { type Answer, type CliContext, defineCommand, onRun, type Run } from "./context.ts";
import { addCounts, importAnswer } from "./import-answer.ts";
import { findEarlier, howToGoOn, placesOf, type ResumeOptions } from "./import-places.ts";
import { progressLine } from "./progress.ts";
import { wholeNumber } from "./whole-number.ts";

interface ImportOptions extends TenantOption, ResumeOptions {
  readonly format?: ImportFormat;
  readonly rejects?: string;
  readonly withData?: true;
  readonly batch: string;
  readonly ignoreUnknown?: true;
}

const columnNotes = Object.entries(personColumns)
  .map(([column, help]) => `  ${column.padEnd(16)} ${help}`)
  .join("\n");

const notes = `Each row adds a person, or changes the one with the same external_id. Columns that a file does not have are left as
they are; an empty cell takes the fact away. Several phones, emails or ID numbers in one cell are separated by |. In
NDJSON these are lists. More is in docs/beneficiaries.md.

Columns:
${columnNotes}`;

export function addBeneficiaryImportCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "import <file>", {
    summary: "add and change people from a CSV or NDJSON file, or - for stdin",
    notes,
    examples: [
      ["fieldgate beneficiary import people.csv --tenant kenya --dry-run", "look at every row, change nothing"],
      ["fieldgate beneficiary import people.csv --tenant kenya", "rejected rows go to people.csv.rejects.csv"],
      ["fieldgate beneficiary import people.csv --tenant kenya --resume", "after an interruption"],
      ["gunzip -c people.ndjson.gz | fieldgate beneficiary import - --tenant kenya", "from a pipe"],
    ],
  })
    .option(...tenantOption)
    .addOption(new Option("--format <format>", "of the file (default: by its name or look)").choices(["csv", "ndjson"]))
    .option("--rejects <file>", "where rows go that were not taken, with line and reason (default: FILE.rejects.csv)")
    .option("--with-data", "write those rows themselves there too; it then holds personal data")
    .option("--dry-run", "say what would happen, and change nothing")
    .option("--batch <rows>", "rows in a transaction", "500")
    .option("--from-line <number>", "leave out the rows before this line")
    .option("--resume", "go on where an interrupted import of this file stopped")
    .option("--ignore-unknown", "leave columns alone that are not listed above, instead of refusing them");
  onRun<ImportOptions>(command, cli, async (run) => {
    try {
      return await runImport(run, cli);
    } catch (error) {
      if (error instanceof ImportRefused) throw new CliFailure(error.message);
      const isAboutFile = error instanceof Error && "syscall" in error && "path" in error && "code" in error;
      throw isAboutFile ? new CliFailure(`${error.path} cannot be used (${error.code}).`) : error;
    }
  });
}

async function runImport(run: Run<ImportOptions>, cli: CliContext): Promise<Answer> {
  const { options } = run;
  const { dryRun = false } = options;
  const batchSize = wholeNumber("--batch", options.batch, 1, 5000);
  const firstLine = wholeNumber("--from-line", options.fromLine ?? "1", 1, 1e12);
  const places = placesOf(cli, run.args[0] ?? "", options.rejects);
  const { store, vault, ...deployment } = await run.deployment();
  const { id: tenantId, settings } = await chosenTenant({ store, vault, ...deployment }, options);
  if (places.file !== null) await demandText(places.file);
  const fileSize = places.file === null ? null : statSync(places.file).size;
  const earlier = await findEarlier(run, places, tenantId, fileSize);
  const importId = earlier?.importId ?? randomUUID();
  const rejects = await openRejectFile(places.rejects, {
    resumeAt: earlier?.rejectsSize ?? (options.fromLine === undefined ? null : sizeOf(places.rejects)),
    withData: options.withData ?? false,
  });
  const source = openSource(
    places.file === null ? cli.stdin : createReadStream(places.file, { highWaterMark: 256 * 1024 }),
    options.format ?? (places.file === null ? null : formatByName(places.file)),
    { ignoreUnknown: options.ignoreUnknown ?? false },
  );

  const start = cli.clock.monotonic();
  const progress = progressLine(cli, "importing", options.json === true);
  const fromLine = earlier ? earlier.line + 1 : firstLine;
  let saved = Number.NEGATIVE_INFINITY;
  let reached = fromLine - 1;
  const save = async (line: number, counts: ImportCounts) => {
    if (places.checkpoint === null || fileSize === null || dryRun) return;
    const sum = addCounts(earlier?.counts, counts);
    const rejectsSize = rejects.size;
    await writeCheckpoint(places.checkpoint, { tenantId, fileSize, importId, line, rejectsSize, counts: sum });
  };
  await prepareForMany(store);
  try {
    const end = await importPeople({
      store,
      dataKeys: createDataKeys(store, vault, cli.clock),
      tenantId,
      importId,
      rows: source.rows,
      rules: { defaultCountry: settings.defaultCountry, nationalId: settings.nationalId, now: cli.clock.now() },
      batchSize,
      fromLine,
      dryRun,
      signal: stopOnSignal(cli),
      async onBatch({ line, counts, remarks }) {
        await rejects.append(remarks);
        reached = line;
        const now = cli.clock.monotonic();
        if (now - saved > saveEveryMs) {
          saved = now;
          await save(line, counts);
        }
        const share = fileSize === null ? null : Math.min(1, source.bytesRead() / Math.max(1, fileSize));
        progress.show({ share, done: counts.rows, facts: `rows, ${counts.rejected.toLocaleString("en")} rejected` });
      },
    });
    if (!end.complete) {
      await save(end.line, end.counts);
      throw new CliFailure(`Stopped after line ${end.line}. ${howToGoOn(places, tenantId, end.line)}`);
    }
    if (places.checkpoint !== null && !dryRun) await removeCheckpoint(places.checkpoint);
    const seconds = (cli.clock.monotonic() - start) / 1000;
    const counts = addCounts(earlier?.counts, end.counts);
    return importAnswer({
      tenantId,
      importId,
      counts,
      rejects: rejects.size === 0 ? null : rejects.path,
      dryRun,
      seconds,
    });
  } catch (error) {
    progress.end();
    const isTold = error instanceof CliFailure || reached < fromLine || dryRun;
    if (!isTold) run.note(`Everything up to line ${reached} is done. ${howToGoOn(places, tenantId, reached)}`);
    throw error;
  } finally {
    progress.end();
    await rejects.close();
  }
}

/** A crash costs the rows of this time once more: looking at them again changes nothing. */
const saveEveryMs = 1000;

/** The first signal ends the import behind its batch, a second one at once. */
function stopOnSignal(cli: CliContext): AbortSignal {
  const stopping = new AbortController();
  cli.onStopSignal(() => {
    if (stopping.signal.aborted) cli.exit(1);
    stopping.abort();
  });
  return stopping.signal;
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? null;
