import type { SyncEvent } from "@fieldgate/contract";
import { isPlainObject } from "../config/bounds.ts";
import type { BeneficiaryFacts } from "../people/beneficiary.ts";
import type { InputRules, PersonColumn, PersonInput, PersonValues } from "../people/person-columns.ts";
import { readPerson } from "../people/person-input.ts";
import type { Rejection } from "./sync-event.ts";

/** What `data` calls each thing that is known of a person; whatever else it holds is the programme's own. */
const wireNames: Readonly<Partial<Record<PersonColumn, string>>> = {
  given_name: "names.given",
  family_name: "names.family",
  full_name: "names.full",
  date_of_birth: "dateOfBirth",
  phones: "phones",
  emails: "emails",
  national_ids: "nationalIds",
  external_id: "externalId",
  language: "language",
};

/** Fields of `data` by which a person is found or proves to be who they are: not changed without a second pair of eyes. */
export const identifyingFields = ["phones", "emails", "nationalIds", "dateOfBirth", "externalId"] as const;
export type IdentifyingField = (typeof identifyingFields)[number] | "names";
/** A household chooses by names: to the people themselves they are identifying too. */
const citizensFields = [...identifyingFields, "names"] as const;
/** What can wait for a supervisor: a field of `data`, or all of the entity. */
export type ProposedField = IdentifyingField | "entity";

/** Whether an event speaks of a person. */
export const isAboutPerson = (type: string) => type === "create-individual" || type === "update-individual";

/** What an event says of a person, in canonical form; what it does not speak of is left out. */
export function readPersonData(data: SyncEvent["data"], rules: InputRules): PersonInput | Rejection {
  const { names, dateOfBirth, phones, emails, nationalIds, externalId, language } = data as Record<string, unknown>;
  if (names !== undefined && !isPlainObject(names)) {
    return { code: "invalid_event", message: "The field data.names must be an object such as { given, family }." };
  }
  const values: PersonValues = {
    ...(names && { given_name: names.given, family_name: names.family, full_name: names.full }),
    ...{ date_of_birth: dateOfBirth, phones, emails, national_ids: nationalIds, external_id: externalId, language },
  };
  const { input, problems } = readPerson(values, rules);
  const [first] = problems;
  if (!first) return input;
  const [, column = "", rest = ""] = /^([a-z_]+)(.*)$/.exec(first.field) ?? [];
  const field = `data.${wireNames[column as PersonColumn] ?? column}${rest}`;
  return { code: "invalid_event", message: `The field ${field} ${first.reason}.` };
}

/** Whether somebody with this could sign in. */
export function hasIdentifier({ phones = [], emails = [], nationalIds = [] }: PersonInput): boolean {
  return phones.length + emails.length + nationalIds.length > 0;
}

const asText: Readonly<Record<IdentifyingField, (facts: BeneficiaryFacts) => string>> = {
  phones: ({ phones }) => JSON.stringify(phones),
  emails: ({ emails }) => JSON.stringify(emails),
  nationalIds: ({ nationalIds }) => JSON.stringify(nationalIds.map(({ type, number }) => [type, number])),
  dateOfBirth: ({ birth }) => JSON.stringify(birth && [birth.year, birth.month, birth.day]),
  externalId: ({ externalId }) => JSON.stringify(externalId),
  names: ({ names: { given, family, full } }) => JSON.stringify([given, family, full]),
};

/** The identifying fields in which two lots of facts differ. */
export function changedIdentifiers(
  before: BeneficiaryFacts,
  after: BeneficiaryFacts,
  by: "worker" | "citizen",
): IdentifyingField[] {
  return (by === "citizen" ? citizensFields : identifyingFields).filter(
    (field) => asText[field](before) !== asText[field](after),
  );
}

/** The facts after a change, but with the identifying ones as they were. */
export function withoutIdentifiers(
  before: BeneficiaryFacts,
  after: BeneficiaryFacts,
  by: "worker" | "citizen",
): BeneficiaryFacts {
  const { names, phones, emails, nationalIds, birth, externalId } = before;
  return { ...after, ...(by === "citizen" && { names }), phones, emails, nationalIds, birth, externalId };
}
