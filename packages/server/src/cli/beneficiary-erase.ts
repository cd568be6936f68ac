import type { Command } from "commander";
import { eraseBeneficiary } from "../flows/erase-beneficiary.ts";
import { eraseEntity, eventTraces, isOnlyInEvents } from "../flows/erase-entity.ts";
import { mergeBeneficiaries } from "../flows/merge-beneficiaries.ts";
import { recordEvent } from "../journal/record.ts";
import { contradicts } from "../people/birth-date.ts";
import { lostTraces, tracesOf } from "../store/beneficiary-traces.ts";
import { type ScrubResult, scrub } from "../store/scrub.ts";
import { demandPerson, openPeople, type PeopleOfTenant, personNotes } from "./beneficiary-choose.ts";
import { type TenantOption, tenantOption } from "./choose.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, defineCommand, onRun, type Run } from "./context.ts";
import { loadIndexKey } from "./index-key.ts";
import { confirm } from "./prompt.ts";

interface YesOption extends TenantOption {
  readonly yes?: true;
  readonly compact?: true;
}

const compactOption = ["--compact", "write the tables anew; everyone else waits until it is done"] as const;

export function addBeneficiaryEraseCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "erase <person>", {
    summary: "remove everything that is kept of a person, for good",
    notes:
      `${personNotes} It keeps the opaque entity id, and nothing else remains.\n` +
      "An entity of which only events are known, such as a household, is erased by its id too.\n" +
      "The database's files are cleared too: SQLite's are searched afterwards, and rewritten where a trace is left.\n" +
      "PostgreSQL overwrites freed space in time, or at once with --compact. All of it was encrypted. Backups made before\n" +
      "still hold the person, encrypted too.",
    examples: [["fieldgate beneficiary erase HH-1042 --tenant kenya", "asks first"]],
  })
    .option(...tenantOption)
    .option(...compactOption)
    .option("--yes", "do not ask");
  onRun<YesOption>(command, cli, async (run) => {
    const people = await openPeople(run, cli);
    const { store, cipher } = people;
    const name = run.args[0] ?? "";
    const isEntity = await isOnlyInEvents(store, cipher, name);
    const { id } = isEntity ? { id: name } : await demandPerson(store, people, name);
    if (!run.options.yes)
      await confirm(cli, `Erase everything that is kept of ${asTyped(name, id)}? There is no way back.`);
    const indexKey = await loadIndexKey(people);
    const traces = await store.transaction(async (tx) => {
      if (isEntity) {
        const left = await eventTraces(tx, cipher.tenantId, id);
        await eraseEntity(tx, cipher, id);
        await recordEvent(tx, { tenantId: cipher.tenantId, type: "entity.erased", subject: id });
        return left;
      }
      const person = await demandPerson(tx, people, id);
      const left = [...(await tracesOf(tx, id)), ...(await eventTraces(tx, cipher.tenantId, id))];
      await eraseBeneficiary(tx, { cipher, indexKey }, person, "asked");
      return lostTraces(tx, cipher.tenantId, left);
    });
    const files = await clearFiles(run, people, traces);
    return { json: { id, erased: true, ...files }, text: `${id} is erased. ${sentence(files)}` };
  });
}

/** What the operator typed, with the id it stands for. */
const asTyped = (typed = "", id: string) => (typed === id ? id : `${typed} (${id})`);

async function clearFiles(
  run: Run<YesOption>,
  { config, store }: PeopleOfTenant,
  traces: readonly string[],
): Promise<ScrubResult> {
  const onRewrite = () => run.note("The tables are written anew. Others who write wait meanwhile.");
  return scrub(config.database, store, { traces, compact: run.options.compact ?? false, onRewrite });
}

function sentence({ clean, rewritten }: ScrubResult): string {
  if (clean === null) {
    return rewritten
      ? "The tables were written anew; the server's own log forgets with time."
      : "The tables were vacuumed: what is left in free space is encrypted, and overwritten in time.";
  }
  return clean
    ? "Nothing of them is left in the database's files."
    : "Others read all the time, so the database's log could not be emptied: it is when the service next starts.";
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
    .option(...compactOption)
    .option("--yes", "do not ask");
  onRun<YesOption>(command, cli, async (run) => {
    const people = await openPeople(run, cli);
    const { store, cipher } = people;
    const from = await demandPerson(store, people, run.args[0] ?? "");
    const into = await demandPerson(store, people, run.args[1] ?? "");
    const differ = from.birth && into.birth && contradicts(from.birth, into.birth);
    const warning = differ ? "Their dates of birth differ. " : "";
    const [fromTyped, intoTyped] = [asTyped(run.args[0], from.id), asTyped(run.args[1], into.id)];
    if (!run.options.yes) await confirm(cli, `${warning}Merge ${fromTyped} into ${intoTyped}? There is no way back.`);
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
