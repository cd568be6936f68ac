import { once } from "node:events";
import { type FileHandle, open, rm } from "node:fs/promises";
import { type Command, Option } from "commander";
import { recordEvent } from "../journal/record.ts";
import { exportPeople } from "../people/export-people.ts";
import { countBeneficiaries } from "../store/beneficiary-lists.ts";
import { openPeople } from "./beneficiary-choose.ts";
import { type TenantOption, tenantOption } from "./choose.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { demandNewFile, explainWriting } from "./input-file.ts";
import { progressLine } from "./progress.ts";

interface ExportOptions extends TenantOption {
  readonly format: "csv" | "ndjson";
  readonly output?: string;
  readonly disabled?: true;
  readonly raw?: true;
}

export function addBeneficiaryExportCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "export", {
    summary: "write all people of a tenant as CSV or NDJSON, in the form that import reads",
    notes:
      "The journal notes that it was done, and how many people it were. Cells that a spreadsheet would take for a\n" +
      "formula, phone numbers with their + among them, begin with an apostrophe in CSV, which import takes away again;\n" +
      "--raw leaves it out.",
    examples: [
      ["fieldgate beneficiary export --tenant kenya --output people.csv", "a new file that only its owner can read"],
      ["fieldgate beneficiary export --tenant kenya --format ndjson | jq .external_id", "to a pipe"],
    ],
  })
    .option(...tenantOption)
    .addOption(new Option("--format <format>", "of the file").choices(["csv", "ndjson"]).default("csv"))
    .option("--output <file>", "write to this new file instead of stdout")
    .option("--disabled", "only disabled people")
    .option("--raw", "cells exactly as they are: not for spreadsheets");
  onRun<ExportOptions>(command, cli, async (run) => {
    const { format, output, disabled, raw = false } = run.options;
    const path = output === undefined ? null : demandNewFile(cli, output);
    const { store, tenant, cipher } = await openPeople(run, cli);
    const counts = await countBeneficiaries(store, tenant.id);
    const total = disabled ? counts.disabled : counts.active + counts.disabled;
    await store.transaction((tx) =>
      recordEvent(tx, { tenantId: tenant.id, type: "beneficiary.exported", data: { count: total, format } }),
    );
    const progress = progressLine(cli, "exporting", run.options.json === true || path === null);
    const onPage = (done: number) =>
      progress.show({ share: total === 0 ? 1 : Math.min(1, done / total), done, facts: "people" });
    const state = disabled ? ("disabled" as const) : undefined;
    const write = async (sink: (text: string) => Promise<unknown>) =>
      store.snapshot(async (q) => {
        let people = 0;
        for await (const page of exportPeople(q, cipher, { format, state, raw })) {
          await sink(page.text);
          people += page.people;
          onPage(people);
        }
        return people;
      });
    if (path === null) {
      await write(async (text) => cli.stdout.write(text) || once(cli.stdout, "drain"));
      return null;
    }
    const people = await writeNew(path, write).catch(explainWriting(path)).finally(progress.end);
    return { json: { file: path, format, people }, text: `Wrote ${people.toLocaleString("en")} people to ${path}.` };
  });
}

/** Writes a new file to its end, or leaves none. */
async function writeNew<T>(path: string, write: (sink: (text: string) => Promise<unknown>) => Promise<T>): Promise<T> {
  const file: FileHandle = await open(path, "wx", 0o600);
  try {
    const result = await write((text) => file.appendFile(text));
    await file.sync();
    return result;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
