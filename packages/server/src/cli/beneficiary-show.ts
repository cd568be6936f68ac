import type { Command } from "commander";
import { recordEvent } from "../journal/record.ts";
import type { Beneficiary } from "../people/beneficiary.ts";
import { canonicalEmail, canonicalNationalId, canonicalPhone } from "../people/identifiers.ts";
import { findByExternalId } from "../store/beneficiaries.ts";
import { countBeneficiaries, findAllByIdentifier, pageOfBeneficiaries } from "../store/beneficiary-lists.ts";
import { demandPerson, openPeople, type PeopleOfTenant, personNotes } from "./beneficiary-choose.ts";
import { describePerson, personAsJson } from "./beneficiary-view.ts";
import { type TenantOption, tenantOption } from "./choose.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { formatTable } from "./table.ts";
import { wholeNumber } from "./whole-number.ts";

interface ShowOptions extends TenantOption {
  readonly externalId?: string;
  readonly phone?: string;
  readonly email?: string;
  readonly nationalId?: string;
  readonly reveal?: true;
}

export function addBeneficiaryShowCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "show [person]", {
    summary: "show a person, or everyone with a phone number, an address or an ID number",
    notes: `${personNotes}\nData is masked unless --reveal is given, which the journal notes.`,
    examples: [
      ["fieldgate beneficiary show HH-1042 --tenant kenya", "masked"],
      ["fieldgate beneficiary show --phone 0712000002 --tenant kenya", "a household that shares a phone"],
      ["fieldgate beneficiary show HH-1042 --tenant kenya --reveal", "everything"],
    ],
  })
    .option(...tenantOption)
    .option("--external-id <id>", "the person with this external id")
    .option("--phone <number>", "everyone with this phone number")
    .option("--email <address>", "everyone with this email address")
    .option("--national-id <number>", "everyone with this ID number, disabled people too")
    .option("--reveal", "show the data itself");
  onRun<ShowOptions>(command, cli, async (run) => {
    const { externalId, phone, email, nationalId, reveal = false } = run.options;
    const choices = [run.args[0], externalId, phone, email, nationalId];
    if (choices.filter((choice) => choice !== undefined).length !== 1) {
      throw new CliFailure(
        "Say whom to show: a PERSON, or one of --external-id, --phone, --email and --national-id.",
        2,
      );
    }
    const people = await openPeople(run, cli);
    const found = await find(people, run.args[0], run.options);
    if (found.length === 0) throw new CliFailure(`The tenant ${people.tenant.id} has nobody like that.`);
    if (reveal) {
      await people.store.transaction(async (tx) => {
        for (const { id, tenantId } of found)
          await recordEvent(tx, { tenantId, type: "beneficiary.revealed", subject: id });
      });
    }
    const text = found.map((person) => describePerson(person, reveal)).join("\n\n");
    return { json: found.map((person) => personAsJson(person, reveal)), text };
  });
}

async function find(
  people: PeopleOfTenant,
  person: string | undefined,
  { externalId, phone, email, nationalId }: ShowOptions,
): Promise<Beneficiary[]> {
  const { store, cipher, tenant } = people;
  if (person !== undefined) return [await demandPerson(store, people, person)];
  if (externalId !== undefined)
    return [await findByExternalId(store, cipher, externalId)].filter((one) => one !== null);
  if (phone !== undefined) {
    const canonical = demand("--phone", canonicalPhone(phone, tenant.settings.defaultCountry), "a phone number");
    return findAllByIdentifier(store, cipher, "phone", canonical);
  }
  if (email !== undefined) {
    const canonical = demand("--email", canonicalEmail(email)?.identity ?? null, "an email address");
    return findAllByIdentifier(store, cipher, "email", canonical);
  }
  const canonical = demand("--national-id", canonicalNationalId(nationalId ?? ""), "an ID number");
  return findAllByIdentifier(store, cipher, "national_id", canonical);
}

function demand(option: string, canonical: string | null, what: string): string {
  if (canonical === null) throw new CliFailure(`${option} is not ${what}.`, 2);
  return canonical;
}

interface ListOptions extends TenantOption {
  readonly limit: string;
  readonly after?: string;
  readonly disabled?: true;
}

export function addBeneficiaryListCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "list", {
    summary: "count the people of a tenant, and list some of them, masked",
    examples: [
      ["fieldgate beneficiary list --tenant kenya", "how many there are, and the first of them"],
      ["fieldgate beneficiary list --tenant kenya --limit 0", "only the numbers"],
      ["fieldgate beneficiary list --tenant kenya --after 3f6c…", "the next ones"],
    ],
  })
    .option(...tenantOption)
    .option("--limit <number>", "how many to list", "50")
    .option("--after <id>", "those behind this entity id")
    .option("--disabled", "only disabled people");
  onRun<ListOptions>(command, cli, async (run) => {
    const { after = null, disabled } = run.options;
    const limit = wholeNumber("--limit", run.options.limit, 0, 1000);
    const people = await openPeople(run, cli);
    const { store, cipher, tenant } = people;
    if (after !== null) await demandPerson(store, people, after);
    const count = await countBeneficiaries(store, tenant.id);
    const state = disabled ? "disabled" : undefined;
    const found = limit === 0 ? [] : await pageOfBeneficiaries(store, cipher, { after, limit, state });
    const rows = found.map((person) => {
      const { id, externalId, names, phones, emails, nationalIds } = personAsJson(person, false);
      const counts = `${phones.length} / ${emails.length} / ${nationalIds.length}`;
      return [id, externalId ?? "-", names.given, counts, person.disabledAt === null ? "active" : "disabled"];
    });
    const number = (value: number) => value.toLocaleString("en");
    const numbers = `${number(count.active)} active, ${number(count.disabled)} disabled.`;
    const header = ["PERSON", "EXTERNAL ID", "GIVEN NAME", "PHONES / EMAILS / IDS", "STATE"];
    return {
      json: { ...count, people: found.map((person) => personAsJson(person, false)) },
      text: rows.length === 0 ? numbers : `${formatTable(header, rows)}\n${numbers}`,
    };
  });
}
