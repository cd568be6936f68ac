import type { Command } from "commander";
import { isPlainObject } from "../config/bounds.ts";
import { didYouMean } from "../config/suggest.ts";
import { applyInput } from "../people/apply-input.ts";
import { addBeneficiary, disableBeneficiary } from "../people/beneficiaries.ts";
import { type PersonValues, personColumns } from "../people/person-columns.ts";
import { readPerson } from "../people/person-input.ts";
import { findBeneficiary } from "../store/beneficiaries.ts";
import { openPeople } from "./beneficiary-choose.ts";
import { personAsJson } from "./beneficiary-view.ts";
import { type TenantOption, tenantOption } from "./choose.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { collect } from "./group.ts";
import { readStdin } from "./prompt.ts";

interface AddOptions extends TenantOption {
  readonly stdin?: true;
  readonly externalId?: string;
  readonly givenName?: string;
  readonly familyName?: string;
  readonly fullName?: string;
  readonly dateOfBirth?: string;
  readonly birthCalendar?: string;
  readonly birthEstimated?: true;
  readonly language?: string;
  readonly phone?: readonly string[];
  readonly email?: readonly string[];
  readonly nationalId?: readonly string[];
}

export function addBeneficiaryAddCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "add", {
    summary: "add one person",
    notes: "On a shared machine use --stdin: others can see the options of a command while it runs.",
    examples: [
      [
        "fieldgate beneficiary add --tenant kenya --external-id HH-1042 --given-name Amina --phone 0712000001",
        "with a phone number",
      ],
      [
        'echo \'{"given_name":"Amina","date_of_birth":"1990","national_ids":["nid:12345678"]}\' | fieldgate beneficiary add --tenant kenya --stdin',
        "one JSON object, as in a line of an NDJSON import",
      ],
    ],
  })
    .option(...tenantOption)
    .option("--stdin", "read the person as one JSON object from stdin")
    .option("--external-id <id>", personColumns.external_id)
    .option("--given-name <name>", personColumns.given_name)
    .option("--family-name <name>", personColumns.family_name)
    .option("--full-name <name>", personColumns.full_name)
    .option("--date-of-birth <date>", personColumns.date_of_birth)
    .option("--birth-calendar <name>", personColumns.birth_calendar)
    .option("--birth-estimated", personColumns.birth_estimated)
    .option("--language <tag>", personColumns.language)
    .option("--phone <number>", "a phone number, best with country code (repeatable)", collect)
    .option("--email <address>", "an email address (repeatable)", collect)
    .option("--national-id <type:number>", "an ID number (repeatable)", collect);
  onRun<AddOptions>(command, cli, async (run) => {
    const values = run.options.stdin ? await valuesFromStdin(cli) : valuesFromOptions(run.options);
    const { store, tenant, cipher } = await openPeople(run, cli);
    const { defaultCountry, nationalId } = tenant.settings;
    const { input, problems, warnings } = readPerson(values, { defaultCountry, nationalId, now: cli.clock.now() });
    const facts = applyInput(null, input);
    const found = "reason" in facts ? [...problems, facts] : problems;
    if (found.length > 0 || "reason" in facts) {
      throw new CliFailure(found.map(({ field, reason }) => `${field} ${reason}.`).join(" "));
    }
    for (const { field, reason } of warnings) run.note(`warning: ${field} ${reason}.`);
    const person = await store.transaction(async (tx) => {
      const id = await addBeneficiary(tx, { cipher, defaultCountry }, facts);
      const added = await findBeneficiary(tx, cipher, id);
      if (!added) throw new Error(`The person ${id} is gone.`);
      if (!input.disabled) return added;
      await disableBeneficiary(tx, added);
      return (await findBeneficiary(tx, cipher, id)) ?? added;
    });
    return { json: personAsJson(person, false), text: `Added ${person.id} to ${tenant.id}.` };
  });
}

function valuesFromOptions(options: AddOptions): PersonValues {
  return {
    external_id: options.externalId,
    given_name: options.givenName,
    family_name: options.familyName,
    full_name: options.fullName,
    date_of_birth: options.dateOfBirth,
    birth_calendar: options.birthCalendar,
    birth_estimated: options.birthEstimated,
    language: options.language,
    phones: options.phone,
    emails: options.email,
    national_ids: options.nationalId,
  };
}

async function valuesFromStdin(cli: CliContext): Promise<PersonValues> {
  let value: unknown;
  try {
    value = JSON.parse(await readStdin(cli, "a person"));
  } catch (error) {
    // The parser's own words would repeat what stands there.
    if (error instanceof SyntaxError) throw new CliFailure("What stdin holds is no JSON.");
    throw error;
  }
  if (!isPlainObject(value)) throw new CliFailure("What stdin holds is no JSON object.");
  const known = Object.keys(personColumns);
  const strange = Object.keys(value).find((key) => !known.includes(key));
  if (strange !== undefined) throw new CliFailure(`"${strange}" is not known.${didYouMean(strange, known)}`);
  return value as PersonValues;
}
