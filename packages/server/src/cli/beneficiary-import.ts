import { randomUUID } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { createDataKeys } from "../people/data-keys.ts";
import { type Checkpoint, readCheckpoint, removeCheckpoint, writeCheckpoint } from "../people/import/checkpoint.ts";
import { type ImportCounts, importPeople } from "../people/import/import-people.ts";
import { ImportRefused } from "../people/import/import-refused.ts";
import { demandText, formatByName, type ImportFormat, openSource } from "../people/import/open-source.ts";
import { openRejectFile, type RejectFile } from "../people/import/reject-file.ts";
import { personColumns } from "../people/person-columns.ts";
import type { Tenant } from "../people/tenants.ts";
import { prepareForMany } from "../store/bulk.ts";
import { chosenTenant, type TenantOption, tenantOption } from "./choose.ts";
import { CliFailure } from "./cli-failure.ts";
import { type Answer, type CliContext, defineCommand, onRun, type Run } from "./context.ts";
import { demandInputFile } from "./input-file.ts";
import { progressLine } from "./progress.ts";
import { wholeNumber } from "./whole-number.ts";

interface ImportOptions extends TenantOption {
  readonly format?: ImportFormat;
  readonly rejects?: string;
  readonly withData?: true;
  readonly dryRun?: true;
  readonly batch: string;
  readonly fromLine?: string;
  readonly resume?: true;
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
      throw error instanceof ImportRefused ? new CliFailure(error.message) : error;
    }
  });
}

interface Places {
  /** Null for stdin. */
  readonly file: string | null;
  readonly rejects: string;
  readonly checkpoint: string | null;
}

function placesOf(cli: CliContext, name: string, { rejects }: ImportOptions): Places {
  const file = name === "-" ? null : demandInputFile(cli, name);
  const besides = resolve(cli.cwd, rejects ?? `${file ?? "stdin"}.rejects.csv`);
  return {
    file,
    rejects: besides,
    checkpoint: file === null ? null : join(dirname(besides), `${basename(file)}.checkpoint.json`),
  };
}

async function runImport(run: Run<ImportOptions>, cli: CliContext): Promise<Answer> {
  const { options } = run;
  const batchSize = wholeNumber("--batch", options.batch, 1, 5000);
  const places = placesOf(cli, run.args[0] ?? "", options);
  const deployment = await run.deployment();
  const tenant = await chosenTenant(deployment, options);
  if (places.file !== null) await demandText(places.file);
  const fileSize = places.file === null ? null : statSync(places.file).size;
  const earlier = await findEarlier(run, places, tenant, fileSize);
  const importId = earlier?.importId ?? randomUUID();
  const rejects = await openRejectFile(places.rejects, {
    resumeAt: earlier?.rejectsSize ?? (options.fromLine === undefined ? null : sizeOf(places.rejects)),
    withData: options.withData ?? false,
  });
  const start = cli.clock.monotonic();
  const progress = progressLine(cli, "importing", options.json === true);
  const fromLine = earlier ? earlier.line + 1 : wholeNumber("--from-line", options.fromLine ?? "1", 1, 1e12);
  const stopping = stopOnSignal(cli);
  const source = openSource(
    places.file === null ? cli.stdin : createReadStream(places.file, { highWaterMark: 256 * 1024 }),
    options.format ?? (places.file === null ? null : formatByName(places.file)),
    { ignoreUnknown: options.ignoreUnknown ?? false },
  );

  let saved = Number.NEGATIVE_INFINITY;
  let reached = fromLine - 1;
  const save = async (line: number, counts: ImportCounts) => {
    if (places.checkpoint === null || fileSize === null || options.dryRun) return;
    const sum = addCounts(earlier?.counts, counts);
    await writeCheckpoint(places.checkpoint, {
      ...{ tenantId: tenant.id, fileSize, importId, line, rejectsSize: rejects.size, counts: sum },
    });
  };
  const { store } = deployment;
  await prepareForMany(store);
  try {
    const end = await importPeople({
      store,
      dataKeys: createDataKeys(store, deployment.vault, cli.clock),
      tenantId: tenant.id,
      importId,
      rows: source.rows,
      rules: {
        defaultCountry: tenant.settings.defaultCountry,
        nationalId: tenant.settings.nationalId,
        now: cli.clock.now(),
      },
      batchSize,
      fromLine,
      dryRun: options.dryRun ?? false,
      signal: stopping,
      async onBatch({ line, counts, remarks }) {
        await rejects.append(remarks);
        reached = line;
        const now = cli.clock.monotonic();
        if (now - saved > 1000) {
          saved = now;
          await save(line, counts);
        }
        const share = fileSize === null ? null : Math.min(1, source.bytesRead() / Math.max(1, fileSize));
        progress.show({ share, done: counts.rows, facts: `rows, ${counts.rejected.toLocaleString("en")} rejected` });
      },
    });
    if (!end.complete) await save(end.line, end.counts);
    progress.end();
    if (!end.complete) throw new CliFailure(`Stopped after line ${end.line}. ${howToGoOn(places, tenant, end.line)}`);
    if (places.checkpoint !== null && !options.dryRun) await removeCheckpoint(places.checkpoint);
    const seconds = (cli.clock.monotonic() - start) / 1000;
    return answer({ run, tenant, importId, counts: addCounts(earlier?.counts, end.counts), rejects, seconds });
  } catch (error) {
    progress.end();
    const wasFine = error instanceof CliFailure || (error instanceof ImportRefused && reached < fromLine);
    if (!wasFine && !options.dryRun)
      run.note(`Everything up to line ${reached} is done. ${howToGoOn(places, tenant, reached)}`);
    throw error;
  } finally {
    await rejects.close();
  }
}

/** What an earlier run over the same file left behind, where it is to be gone on with. */
async function findEarlier(
  run: Run<ImportOptions>,
  { checkpoint }: Places,
  tenant: Tenant,
  fileSize: number | null,
): Promise<Checkpoint | null> {
  const { resume, fromLine, dryRun } = run.options;
  if (resume && (fromLine !== undefined || dryRun)) {
    throw new CliFailure("--resume goes on where an import stopped: leave --from-line and --dry-run out.", 2);
  }
  const found =
    checkpoint === null || fileSize === null
      ? null
      : await readCheckpoint(checkpoint, { tenantId: tenant.id, fileSize });
  if (resume && !found) {
    throw new CliFailure(
      `No interrupted import of this file into ${tenant.id} is known${checkpoint === null ? "" : ` (${checkpoint})`}. ` +
        "Leave --resume out: importing rows again changes nothing.",
    );
  }
  if (found && !resume && fromLine === undefined && !dryRun) {
    run.note(`note: an earlier import of this file stopped after line ${found.line}; --resume goes on from there.`);
  }
  return resume ? found : null;
}

function howToGoOn({ file }: Places, tenant: Tenant, line: number): string {
  const how = file === null ? `--from-line ${line + 1}` : "--resume";
  return `Go on with: fieldgate beneficiary import ${file ?? "-"} --tenant ${tenant.id} ${how}`;
}

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

function addCounts(a: ImportCounts | undefined, b: ImportCounts): ImportCounts {
  if (!a) return b;
  return {
    rows: a.rows + b.rows,
    added: a.added + b.added,
    changed: a.changed + b.changed,
    unchanged: a.unchanged + b.unchanged,
    rejected: a.rejected + b.rejected,
    warnings: a.warnings + b.warnings,
  };
}

interface Finished {
  readonly run: Run<ImportOptions>;
  readonly tenant: Tenant;
  readonly importId: string;
  readonly counts: ImportCounts;
  readonly rejects: RejectFile;
  readonly seconds: number;
}

function answer({ run, tenant, importId, counts, rejects, seconds }: Finished): Answer {
  const dryRun = run.options.dryRun ?? false;
  const told = rejects.size === 0 ? null : rejects.path;
  const number = (value: number) => value.toLocaleString("en");
  const would = dryRun ? "would be " : "";
  const lines = [
    `${number(counts.rows)} rows for ${tenant.id} in ${number(Math.round(seconds))} s: ${number(counts.added)} ${would}added, ` +
      `${number(counts.changed)} ${would}changed, ${number(counts.unchanged)} as they were, ${number(counts.rejected)} rejected.`,
    ...(counts.warnings > 0 ? [`${number(counts.warnings)} warnings.`] : []),
    ...(told === null ? [] : [`Lines and reasons are in ${told}.`]),
    ...(dryRun ? ["Nothing was changed."] : []),
  ];
  return {
    json: { tenantId: tenant.id, importId, dryRun, ...counts, rejects: told, seconds: Math.round(seconds * 10) / 10 },
    text: lines.join("\n"),
    exitCode: counts.rejected > 0 ? 1 : 0,
  };
}
