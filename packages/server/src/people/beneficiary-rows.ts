import { randomUUID } from "node:crypto";
import type { Selectable } from "kysely";
import { places } from "../store/beneficiaries.ts";
import type { BeneficiaryTable, IdentifierTable } from "../store/schema.ts";
import type { BeneficiaryFacts, IdentifierKind } from "./beneficiary.ts";
import type { TenantCipher } from "./data-keys.ts";

/** One identifier in its canonical form. */
export interface Identifier {
  readonly kind: IdentifierKind;
  /** What kind of ID number it is; empty for the others. */
  readonly type: string;
  readonly value: string;
}

/** The identifiers of facts that are canonical already, in their order. */
export function identifiersOf({ phones, emails, nationalIds }: BeneficiaryFacts): Identifier[] {
  return [
    ...phones.map((value) => ({ kind: "phone" as const, type: "", value })),
    ...emails.map((value) => ({ kind: "email" as const, type: "", value })),
    ...nationalIds.map(({ type, number }) => ({ kind: "national_id" as const, type, value: number })),
  ];
}

/** The columns of a person that their facts fill. */
export type FactColumns = Pick<
  Selectable<BeneficiaryTable>,
  "external_lookup" | "sealed_external_id" | "sealed_names" | "sealed_birth" | "language" | "key_version"
>;

export function factColumns(cipher: TenantCipher, id: string, facts: BeneficiaryFacts): FactColumns {
  const seal = (column: "sealed_external_id" | "sealed_names" | "sealed_birth", text: string) =>
    cipher.seal(places.beneficiary(id, column), text);
  const { externalId, names, birth, language } = facts;
  return {
    external_lookup: externalId === null ? null : cipher.index("external_id", externalId),
    sealed_external_id: externalId === null ? null : seal("sealed_external_id", externalId),
    sealed_names: seal("sealed_names", JSON.stringify(names)),
    sealed_birth: birth === null ? null : seal("sealed_birth", JSON.stringify(birth)),
    language,
    key_version: cipher.version,
  };
}

export function identifierRows(
  cipher: TenantCipher,
  beneficiaryId: string,
  identifiers: readonly Identifier[],
  { active, newId = randomUUID }: { readonly active: boolean; readonly newId?: () => string },
): Selectable<IdentifierTable>[] {
  return identifiers.map(({ kind, type, value }, position) => {
    const id = newId();
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
}

/** Whether two lots of canonical facts are the same. */
export function sameFacts(a: BeneficiaryFacts, b: BeneficiaryFacts): boolean {
  return shape(a) === shape(b);
}

function shape(facts: BeneficiaryFacts): string {
  const { externalId, names, birth, language, phones, emails, nationalIds } = facts;
  return JSON.stringify([
    externalId,
    [names.given, names.family, names.full],
    birth && [birth.year, birth.month, birth.day, birth.estimated],
    language,
    phones,
    emails,
    nationalIds.map(({ type, number }) => [type, number]),
  ]);
}
