import type { Command } from "commander";
import { eraseBeneficiary } from "../flows/erase-beneficiary.ts";
import { mergeBeneficiaries } from "../flows/merge-beneficiaries.ts";
import { contradicts } from "../people/birth-date.ts";
import { lostTraces, tracesOf } from "../store/beneficiaries.ts";
import { type ScrubResult, scrub } from "../store/scrub.ts";
import { demandPerson, openPeople, type PeopleOfTenant, personNotes } from "./beneficiary-choose.ts";
import { type TenantOption, tenantOption } from "./choose.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, defineCommand, onRun, type Run } from "./context.ts";
import { loadIndexKey } from "./index-key.ts";
import { confirm } from "./prompt.ts";

interface YesOption extends TenantOption {
  readonly yes?: true;
}

export function addBeneficiaryEraseCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "erase <person>", {
    summary: "remove everything that is kept of a person, for good",
    notes:
      `${personNotes} It keeps the opaque entity id, and nothing else remains.\n` +
      "The database's files are cleared too: SQLite's are searched afterwards, and rewritten where a trace is left.\n" +
      "Backups made before still hold the person, encrypted.",
    examples: [["fieldgate beneficiary erase HH-1042 --tenant kenya", "asks first"]],
  })
    .option(...tenantOption)
    .option("--yes", "do not ask");
  onRun<YesOption>(command, cli, async (run) => {
    const people = await openPeople(run, cli);
    const { store, cipher } = people;
    const { id } = await demandPerson(store, people, run.args[0] ?? "");
    if (!run.options.yes) await confirm(cli, `Erase everything that is kept of ${id}? There is no way back.`);
    const indexKey = await loadIndexKey(people);
    const traces = await store.transaction(async (tx) => {
      const person = await demandPerson(tx, people, id);
      const left = await tracesOf(tx, id);
      await eraseBeneficiary(tx, { cipher, indexKey }, person, "asked");
      return lostTraces(tx, cipher.tenantId, left);
    });
    const files = await clearFiles(run, people, traces);
    return { json: { id, erased: true, ...files }, text: `${id} is erased. ${sentence(files)}` };
  });
}

async function clearFiles(
  run: Run<YesOption>,
  { config, store }: PeopleOfTenant,
  traces: string[],
): Promise<ScrubResult> {
  return scrub(config.database, store, traces, () => {
    run.note("A trace is left in the database's file; it is written anew. Others who write wait meanwhile.");
  });
}

function sentence({ clean }: ScrubResult): string {
  if (clean === null) return "The tables were vacuumed; the server's own log forgets with time.";
  return clean
    ? "Nothing of them is left in the database's files."
    : "Readers kept the database's log from being emptied: run `fieldgate doctor`, stop them, and start the service again.";
}

export function addBeneficiaryMergeCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "merge <from> <into>", {
    summary: "make one person of two records of the same one",
    notes:
      `${personNotes}\nINTO gets the phones, addresses, ID numbers and cards of FROM, and what else it lacks. The sessions of\n` +
      "FROM end, and it is erased.",
    examples: [["fieldgate beneficiary merge HH-1043 HH-1042 --tenant kenya", "HH-1042 remains"]],
  })
    .option(...tenantOption)
    .option("--yes", "do not ask");
  onRun<YesOption>(command, cli, async (run) => {
    const people = await openPeople(run, cli);
    const { store, cipher } = people;
    const from = await demandPerson(store, people, run.args[0] ?? "");
    const into = await demandPerson(store, people, run.args[1] ?? "");
    const differ = from.birth && into.birth && contradicts(from.birth, into.birth);
    const warning = differ ? "Their dates of birth differ. " : "";
    if (!run.options.yes) await confirm(cli, `${warning}Merge ${from.id} into ${into.id}? There is no way back.`);
    else if (differ) run.note("warning: their dates of birth differ.");
    const indexKey = await loadIndexKey(people);
    const traces = await store.transaction(async (tx) => {
      const [one, other] = [await demandPerson(tx, people, from.id), await demandPerson(tx, people, into.id)];
      if (one.id === other.id) throw new CliFailure("These are one and the same person already.");
      const left = await tracesOf(tx, one.id);
      await mergeBeneficiaries(tx, { cipher, indexKey }, one, other);
      const kept = new Set(await tracesOf(tx, other.id));
      return left.filter((trace) => !kept.has(trace));
    });
    const files = await clearFiles(run, people, traces);
    return {
      json: { id: into.id, merged: from.id, ...files },
      text: `${from.id} is part of ${into.id} now. ${sentence(files)}`,
    };
  });
}
