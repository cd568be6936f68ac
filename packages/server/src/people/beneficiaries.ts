import { randomUUID } from "node:crypto";
import { Fault } from "../fault.ts";
import { recordEvent } from "../journal/record.ts";
import { findByExternalId } from "../store/beneficiaries.ts";
import { findHolders } from "../store/beneficiary-lists.ts";
import { endSessions } from "../store/sessions.ts";
import type { Queries } from "../store/store.ts";
import { isUniqueViolation } from "../store/unique-violation.ts";
import type { Beneficiary, BeneficiaryFacts } from "./beneficiary.ts";
import { factColumns, type Identifier, identifierRows, sameFacts } from "./beneficiary-rows.ts";
import type { TenantCipher } from "./data-keys.ts";
import { canonicalEmail, canonicalExternalId, canonicalNationalId, canonicalPhone } from "./identifiers.ts";

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
export async function addBeneficiary(tx: Queries, context: WriteContext, said: BeneficiaryFacts): Promise<string> {
  const { cipher } = context;
  const facts = withExternalId(said);
  const identifiers = canonicalIdentifiers(facts, context.defaultCountry);
  const id = randomUUID();
  await refuseKnown(tx, cipher, facts.externalId);
  await refuseTaken(tx, cipher, id, identifiers);
  await unlessTaken(async () => {
    await tx.db
      .insertInto("beneficiaries")
      .values({
        id,
        tenant_id: cipher.tenantId,
        ...factColumns(cipher, id, facts),
        version: 1,
        created_at: tx.now,
        updated_at: tx.now,
        disabled_at: null,
      })
      .execute();
    await insertIdentifiers(tx, cipher, id, identifiers, true);
  });
  await recordEvent(tx, { tenantId: cipher.tenantId, type: "beneficiary.added", subject: id });
  return id;
}

/** Puts new facts in the place of the old ones. Unchanged facts change nothing; false then. */
export async function updateBeneficiary(
  tx: Queries,
  context: WriteContext,
  before: Beneficiary,
  said: BeneficiaryFacts,
): Promise<boolean> {
  const { cipher } = context;
  const facts = withExternalId(said);
  const identifiers = canonicalIdentifiers(facts, context.defaultCountry);
  if (sameFacts(before, withIdentifiers(facts, identifiers))) return false;
  const active = before.disabledAt === null;
  if (facts.externalId !== before.externalId) await refuseKnown(tx, cipher, facts.externalId);
  if (active) await refuseTaken(tx, cipher, before.id, identifiers);
  const changed = await unlessTaken(async () => {
    const row = await tx.db
      .updateTable("beneficiaries")
      .set({ ...factColumns(cipher, before.id, facts), version: before.version + 1, updated_at: tx.now })
      .where("id", "=", before.id)
      .where("tenant_id", "=", cipher.tenantId)
      .where("version", "=", before.version)
      .returning("id")
      .executeTakeFirst();
    if (!row) return false;
    await tx.db.deleteFrom("identifiers").where("beneficiary_id", "=", before.id).execute();
    await insertIdentifiers(tx, cipher, before.id, identifiers, active);
    return true;
  });
  if (!changed) throw changedMeanwhile();
  await recordEvent(tx, { tenantId: cipher.tenantId, type: "beneficiary.changed", subject: before.id });
  return true;
}

export function changedMeanwhile(): Fault {
  return new Fault("invalid_request", { field: "version", message: "The person was changed meanwhile. Try again." });
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
  await unlessTaken(() => setActive(tx, beneficiary, true));
  await recordEvent(tx, { tenantId: beneficiary.tenantId, type: "beneficiary.enabled", subject: beneficiary.id });
}

async function setActive(tx: Queries, { id, tenantId, version }: Beneficiary, active: boolean): Promise<void> {
  const row = await tx.db
    .updateTable("beneficiaries")
    .set({ disabled_at: active ? null : tx.now, version: version + 1, updated_at: tx.now })
    .where("id", "=", id)
    .where("tenant_id", "=", tenantId)
    .where("version", "=", version)
    .returning("id")
    .executeTakeFirst();
  if (!row) throw changedMeanwhile();
  await tx.db
    .updateTable("identifiers")
    .set({ active: active ? 1 : 0 })
    .where("beneficiary_id", "=", id)
    .execute();
}

/** One active person per ID number. */
async function refuseTaken(
  tx: Queries,
  cipher: TenantCipher,
  own: string,
  identifiers: readonly Identifier[],
): Promise<void> {
  const numbers = identifiers.filter(({ kind }) => kind === "national_id").map(({ value }) => value);
  const holders = await findHolders(tx, cipher, numbers);
  if ([...holders.values()].some((holder) => holder !== own)) throw new Fault("identifier_taken");
}

/** One person per external id. */
async function refuseKnown(tx: Queries, cipher: TenantCipher, externalId: string | null): Promise<void> {
  if (externalId === null || !(await findByExternalId(tx, cipher, externalId))) return;
  throw new Fault("invalid_request", {
    field: "external_id",
    message: "A person with this external id is there already.",
  });
}

/** Where two are added at the same moment the unique indexes have the last word. */
async function unlessTaken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isUniqueViolation(error) ? new Fault("identifier_taken", { cause: error }) : error;
  }
}

async function insertIdentifiers(
  tx: Queries,
  cipher: TenantCipher,
  beneficiaryId: string,
  identifiers: readonly Identifier[],
  active: boolean,
): Promise<void> {
  if (identifiers.length === 0) return;
  await tx.db
    .insertInto("identifiers")
    .values(identifierRows(cipher, beneficiaryId, identifiers, { active }))
    .execute();
}

function withExternalId(facts: BeneficiaryFacts): BeneficiaryFacts {
  const { externalId } = facts;
  return { ...facts, externalId: externalId === null ? null : canonicalExternalId(externalId) || null };
}

function withIdentifiers(facts: BeneficiaryFacts, identifiers: readonly Identifier[]): BeneficiaryFacts {
  const valuesOf = (kind: Identifier["kind"]) => identifiers.filter((identifier) => identifier.kind === kind);
  return {
    ...facts,
    phones: valuesOf("phone").map(({ value }) => value),
    emails: valuesOf("email").map(({ value }) => value),
    nationalIds: valuesOf("national_id").map(({ type, value }) => ({ type, number: value })),
  };
}
