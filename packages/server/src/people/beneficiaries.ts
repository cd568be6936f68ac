import { randomUUID } from "node:crypto";
import { Fault } from "../fault.ts";
import { recordEvent } from "../journal/record.ts";
import { findByIdentifier, places } from "../store/beneficiaries.ts";
import { endSessions } from "../store/sessions.ts";
import type { Queries } from "../store/store.ts";
import type { Beneficiary, BeneficiaryFacts, IdentifierKind } from "./beneficiary.ts";
import type { TenantCipher } from "./data-keys.ts";
import { canonicalEmail, canonicalNationalId, canonicalPhone } from "./identifiers.ts";

interface Identifier {
  readonly kind: IdentifierKind;
  readonly type: string;
  readonly value: string;
}

/**
 * The identifiers of a person in their canonical form, each once.
 *
 * @throws Fault `invalid_request` that names the field and never the value.
 */
export function canonicalIdentifiers(facts: BeneficiaryFacts, defaultCountry: string | undefined): Identifier[] {
  const refuse = (field: string, what: string) =>
    new Fault("invalid_request", { field, message: `${field} is not ${what}.` });
  const identifiers: Identifier[] = [
    ...facts.phones.map((text, index) => {
      const value = canonicalPhone(text, defaultCountry);
      if (value === null) throw refuse(`phones[${index}]`, "a phone number");
      return { kind: "phone" as const, type: "", value };
    }),
    ...facts.emails.map((text, index) => {
      const value = canonicalEmail(text)?.identity;
      if (value === undefined) throw refuse(`emails[${index}]`, "an email address");
      return { kind: "email" as const, type: "", value };
    }),
    ...facts.nationalIds.map(({ type, number }, index) => {
      const value = canonicalNationalId(number);
      if (value === null) throw refuse(`nationalIds[${index}].number`, "an ID number");
      return { kind: "national_id" as const, type, value };
    }),
  ];
  const seen = new Set<string>();
  return identifiers.filter(({ kind, value }) => {
    const key = `${kind} ${value}`;
    return !seen.has(key) && seen.add(key);
  });
}

export interface WriteContext {
  readonly cipher: TenantCipher;
  readonly defaultCountry: string | undefined;
}

/** Adds a person with their identifiers, and the journal's event. */
export async function addBeneficiary(tx: Queries, context: WriteContext, facts: BeneficiaryFacts): Promise<string> {
  const { cipher } = context;
  const identifiers = canonicalIdentifiers(facts, context.defaultCountry);
  const id = randomUUID();
  await refuseTaken(tx, cipher, id, identifiers);
  await tx.db
    .insertInto("beneficiaries")
    .values({
      id,
      tenant_id: cipher.tenantId,
      ...sealedColumns(cipher, id, facts),
      language: facts.language,
      key_version: cipher.version,
      version: 1,
      created_at: tx.now,
      updated_at: tx.now,
      disabled_at: null,
    })
    .execute();
  await insertIdentifiers(tx, cipher, id, identifiers, true);
  await recordEvent(tx, { tenantId: cipher.tenantId, type: "beneficiary.added", subject: id });
  return id;
}

/** Puts new facts in the place of the old ones. Unchanged facts change nothing; false then. */
export async function updateBeneficiary(
  tx: Queries,
  context: WriteContext,
  before: Beneficiary,
  facts: BeneficiaryFacts,
): Promise<boolean> {
  const { cipher } = context;
  const identifiers = canonicalIdentifiers(facts, context.defaultCountry);
  if (sameFacts(before, facts, identifiers)) return false;
  const active = before.disabledAt === null;
  if (active) await refuseTaken(tx, cipher, before.id, identifiers);
  const changed = await tx.db
    .updateTable("beneficiaries")
    .set({
      ...sealedColumns(cipher, before.id, facts),
      language: facts.language,
      key_version: cipher.version,
      version: before.version + 1,
      updated_at: tx.now,
    })
    .where("id", "=", before.id)
    .where("tenant_id", "=", cipher.tenantId)
    .where("version", "=", before.version)
    .returning("id")
    .executeTakeFirst();
  if (!changed) {
    throw new Fault("invalid_request", { field: "version", message: "The person was changed meanwhile. Try again." });
  }
  await tx.db.deleteFrom("identifiers").where("beneficiary_id", "=", before.id).execute();
  await insertIdentifiers(tx, cipher, before.id, identifiers, active);
  await recordEvent(tx, { tenantId: cipher.tenantId, type: "beneficiary.changed", subject: before.id });
  return true;
}

/** Closes every way in for the person and ends the sessions; their ID numbers are free for others. */
export async function disableBeneficiary(tx: Queries, beneficiary: Beneficiary): Promise<void> {
  if (beneficiary.disabledAt !== null) return;
  await setActive(tx, beneficiary, false);
  await endSessions(tx, { tenantId: beneficiary.tenantId, userId: beneficiary.id }, "user_disabled");
  await recordEvent(tx, {
    tenantId: beneficiary.tenantId,
    type: "beneficiary.disabled",
    subject: beneficiary.id,
  });
}

/** Opens the ways in again, unless an ID number belongs to another by now. */
export async function enableBeneficiary(tx: Queries, cipher: TenantCipher, beneficiary: Beneficiary): Promise<void> {
  if (beneficiary.disabledAt === null) return;
  const identifiers = beneficiary.nationalIds.map(({ type, number }) => ({
    kind: "national_id" as const,
    type,
    value: number,
  }));
  await refuseTaken(tx, cipher, beneficiary.id, identifiers);
  await setActive(tx, beneficiary, true);
  await recordEvent(tx, { tenantId: beneficiary.tenantId, type: "beneficiary.enabled", subject: beneficiary.id });
}

async function setActive(tx: Queries, { id, tenantId, version }: Beneficiary, active: boolean): Promise<void> {
  await tx.db
    .updateTable("beneficiaries")
    .set({ disabled_at: active ? null : tx.now, version: version + 1, updated_at: tx.now })
    .where("id", "=", id)
    .where("tenant_id", "=", tenantId)
    .execute();
  await tx.db
    .updateTable("identifiers")
    .set({ active: active ? 1 : 0 })
    .where("beneficiary_id", "=", id)
    .execute();
}

/** One active person per ID number. The unique index is the last word where two are added at the same moment. */
async function refuseTaken(
  tx: Queries,
  cipher: TenantCipher,
  own: string,
  identifiers: readonly Identifier[],
): Promise<void> {
  for (const { kind, value } of identifiers) {
    if (kind !== "national_id") continue;
    const holders = await findByIdentifier(tx, cipher, kind, value);
    if (holders.some((holder) => holder.id !== own)) throw new Fault("identifier_taken");
  }
}

function sealedColumns(cipher: TenantCipher, id: string, facts: BeneficiaryFacts) {
  const seal = (column: "sealed_external_id" | "sealed_names" | "sealed_birth", text: string) =>
    cipher.seal(places.beneficiary(id, column), text);
  const { externalId, names, birth } = facts;
  return {
    external_lookup: externalId === null ? null : cipher.index("external_id", externalId),
    sealed_external_id: externalId === null ? null : seal("sealed_external_id", externalId),
    sealed_names: seal("sealed_names", JSON.stringify(names)),
    sealed_birth: birth === null ? null : seal("sealed_birth", JSON.stringify(birth)),
  };
}

async function insertIdentifiers(
  tx: Queries,
  cipher: TenantCipher,
  beneficiaryId: string,
  identifiers: readonly Identifier[],
  active: boolean,
): Promise<void> {
  if (identifiers.length === 0) return;
  const rows = identifiers.map(({ kind, type, value }, position) => {
    const id = randomUUID();
    return {
      id,
      tenant_id: cipher.tenantId,
      beneficiary_id: beneficiaryId,
      kind,
      type,
      lookup: cipher.index(kind, value),
      sealed_value: cipher.seal(places.identifier(id), value),
      position,
      active: active ? 1 : 0,
    };
  });
  await tx.db.insertInto("identifiers").values(rows).execute();
}

function sameFacts(before: Beneficiary, facts: BeneficiaryFacts, identifiers: readonly Identifier[]): boolean {
  const shape = (person: BeneficiaryFacts) =>
    JSON.stringify([person.externalId, sorted(person.names), person.birth && sorted(person.birth), person.language]);
  const held = [
    ...before.phones.map((value) => `phone  ${value}`),
    ...before.emails.map((value) => `email  ${value}`),
    ...before.nationalIds.map(({ type, number }) => `national_id ${type} ${number}`),
  ];
  const wanted = identifiers.map(({ kind, type, value }) => `${kind} ${type} ${value}`);
  return shape(before) === shape(facts) && JSON.stringify(held) === JSON.stringify(wanted);
}

const sorted = (value: object) => Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
