import type { Selectable } from "kysely";
import { type ColumnKinds, insertMany, isOneOf, updateMany } from "../store/bulk.ts";
import type { BeneficiaryTable, IdentifierTable } from "../store/schema.ts";
import type { Queries } from "../store/store.ts";
import type { Beneficiary, BeneficiaryFacts } from "./beneficiary.ts";
import { factColumns, identifierRows, identifiersOf } from "./beneficiary-rows.ts";
import type { TenantCipher } from "./data-keys.ts";
import { neighbourIds } from "./neighbour-ids.ts";

/** A person to add. Facts are canonical. */
export interface Addition {
  readonly id: string;
  readonly facts: BeneficiaryFacts;
  readonly active: boolean;
}

export interface Change {
  readonly before: Beneficiary;
  readonly facts: BeneficiaryFacts;
  readonly active: boolean;
}

export interface PeopleChanges {
  readonly additions: readonly Addition[];
  readonly changes: readonly Change[];
}

/** Someone changed what a plan rests on. */
export class Outdated extends Error {}

type PersonRow = Omit<Selectable<BeneficiaryTable>, "created_at" | "updated_at" | "disabled_at">;

/** The rows of many people, sealed: what costs time can be done before a transaction begins. */
export interface SealedPeople {
  readonly additions: readonly { readonly row: PersonRow; readonly active: boolean }[];
  readonly changes: readonly {
    readonly row: PersonRow;
    readonly active: boolean;
    readonly disabledAt: number | null;
  }[];
  readonly identifiers: readonly Selectable<IdentifierTable>[];
}

export function sealPeople(cipher: TenantCipher, { additions, changes }: PeopleChanges): SealedPeople {
  const newId = neighbourIds();
  const personRow = (id: string, version: number, facts: BeneficiaryFacts): PersonRow => ({
    id,
    tenant_id: cipher.tenantId,
    ...factColumns(cipher, id, facts),
    version,
  });
  const people = [...additions, ...changes.map(({ before, facts, active }) => ({ id: before.id, facts, active }))];
  return {
    additions: additions.map(({ id, facts, active }) => ({ row: personRow(id, 1, facts), active })),
    changes: changes.map(({ before, facts, active }) => ({
      row: personRow(before.id, before.version + 1, facts),
      active,
      disabledAt: before.disabledAt,
    })),
    identifiers: people.flatMap(({ id, facts, active }) =>
      identifierRows(cipher, id, identifiersOf(facts), { active, newId }),
    ),
  };
}

/**
 * Writes many people, and nothing else of them: journal and sessions are the caller's.
 *
 * @throws Outdated where one of them has another version by now.
 */
export async function writePeople(tx: Queries, sealed: SealedPeople, now: number): Promise<void> {
  await insertMany(
    tx,
    "beneficiaries",
    personColumns,
    sealed.additions.map(({ row, active }) => ({
      ...row,
      created_at: now,
      updated_at: now,
      disabled_at: active ? null : now,
    })),
  );
  await writeChanges(tx, sealed, now);
  await insertMany(tx, "identifiers", identifierColumns, sealed.identifiers);
}

const personColumns = [
  ...(["id", "tenant_id", "external_lookup", "sealed_external_id", "sealed_names", "sealed_birth"] as const),
  ...(["language", "key_version", "version", "created_at", "updated_at", "disabled_at"] as const),
] as const satisfies readonly (keyof BeneficiaryTable)[];
const identifierColumns = [
  ...(["id", "tenant_id", "beneficiary_id", "kind", "type", "lookup", "sealed_value", "position", "active"] as const),
] as const satisfies readonly (keyof IdentifierTable)[];

async function writeChanges(tx: Queries, { changes }: SealedPeople, now: number): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map(({ row, active, disabledAt }) => ({
    ...row,
    updated_at: now,
    disabled_at: active ? null : (disabledAt ?? now),
    before: row.version - 1,
  }));
  const changed = await updateMany(tx, "beneficiaries", changedColumns, rows, { column: "version", field: "before" });
  if (changed !== rows.length) throw new Outdated();
  const ids = rows.map(({ id }) => id);
  await tx.db
    .deleteFrom("identifiers")
    .where(isOneOf(tx, "beneficiary_id", ids))
    .execute();
}

const changedColumns: ColumnKinds = {
  ...{ external_lookup: "text", sealed_external_id: "text", sealed_names: "text", sealed_birth: "text" },
  ...{ language: "text", key_version: "bigint", version: "bigint", updated_at: "bigint", disabled_at: "bigint" },
};
