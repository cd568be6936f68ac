import type { BeneficiaryFacts } from "../../packages/server/src/people/beneficiary.ts";
import { factColumns, identifierRows, identifiersOf } from "../../packages/server/src/people/beneficiary-rows.ts";
import type { TenantCipher } from "../../packages/server/src/people/data-keys.ts";
import { neighbourIds } from "../../packages/server/src/people/neighbour-ids.ts";
import { insertMany } from "../../packages/server/src/store/bulk.ts";
import type { Queries } from "../../packages/server/src/store/store.ts";

const given = ["Amina", "Baraka", "Chausiku", "Daudi", "Esther", "Farida", "Grace", "Hassan", "Imani", "Juma"];
const family = ["Achieng", "Barasa", "Chebet", "Ekai", "Kamau", "Lokiru", "Mohamed", "Njoroge", "Odhiambo"];

const two = (value: number) => String(value).padStart(2, "0");

export const phoneOf = (person: number): string => `+2547${String(person).padStart(8, "0")}`;
export const idNumberOf = (person: number): string => String(10_000_000 + person);

function birthOf(person: number) {
  return { year: 1940 + (person % 67), month: 1 + (person % 12), day: 1 + (person % 28), estimated: false };
}

export function dateOfBirthOf(person: number): string {
  const { year, month, day } = birthOf(person);
  return `${year}-${two(month)}-${two(day)}`;
}

/** The same person for the same number, in every database. */
export function factsOf(person: number): BeneficiaryFacts {
  return {
    externalId: `HH-${String(person).padStart(8, "0")}`,
    names: { given: given[person % given.length] as string, family: family[person % family.length] as string },
    birth: birthOf(person),
    language: "sw",
    phones: [phoneOf(person)],
    emails: [],
    nationalIds: [{ type: "nid", number: idNumberOf(person) }],
  };
}

const beneficiaryColumns = [
  ...(["id", "tenant_id", "external_lookup", "sealed_external_id", "sealed_names", "sealed_birth"] as const),
  ...(["language", "key_version", "version", "created_at", "updated_at", "disabled_at"] as const),
] as const;
const identifierColumns = [
  ...(["id", "tenant_id", "beneficiary_id", "kind", "type", "lookup", "sealed_value", "position", "active"] as const),
] as const;

/** The rows of some people, sealed as the service seals them; for any database that has the cipher's keys. */
export function sealPeople(cipher: TenantCipher, from: number, to: number) {
  const newId = neighbourIds();
  const at = Date.now();
  const people = Array.from({ length: to - from }, (_, index) => ({ id: newId(), facts: factsOf(from + index) }));
  return {
    beneficiaries: people.map(({ id, facts }) => ({
      id,
      tenant_id: cipher.tenantId,
      ...factColumns(cipher, id, facts),
      version: 1,
      created_at: at,
      updated_at: at,
      disabled_at: null,
    })),
    identifiers: people.flatMap(({ id, facts }) =>
      identifierRows(cipher, id, identifiersOf(facts), { active: true, newId }),
    ),
  };
}

export type SealedPeople = ReturnType<typeof sealPeople>;

export async function insertPeople(tx: Queries, { beneficiaries, identifiers }: SealedPeople): Promise<void> {
  await insertMany(tx, "beneficiaries", beneficiaryColumns, beneficiaries);
  await insertMany(tx, "identifiers", identifierColumns, identifiers);
}
