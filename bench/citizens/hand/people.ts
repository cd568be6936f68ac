import { mac, open } from "./crypto.ts";
import type { CitizenKeys } from "./keys.ts";
import { first, type Work } from "./statements.ts";

interface PersonRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly sealed_external_id: string | null;
  readonly sealed_names: string;
  readonly sealed_birth: string | null;
}

interface IdentifierRow {
  readonly id: string;
  readonly kind: string;
  readonly type: string;
  readonly sealed_value: string;
}

export interface Person {
  readonly id: string;
  readonly externalId: string | null;
  readonly names: unknown;
  readonly birth: { year: number; month?: number; day?: number } | null;
  readonly identifiers: readonly { kind: string; type: string; value: string }[];
}

/** The one active person with an identifier. */
export function* holderIdOf(
  { tenant }: CitizenKeys,
  kind: "phone" | "national_id",
  value: string,
): Work<string | null> {
  const holders = yield ["holders", tenant.id, mac(tenant.index, kind, value)];
  const [holder] = holders as { beneficiary_id: string }[];
  return holder && holders.length === 1 ? holder.beneficiary_id : null;
}

/** The same with everything of theirs, opened. */
export function* holderOf(keys: CitizenKeys, kind: "phone" | "national_id", value: string): Work<Person | null> {
  const holder = yield* holderIdOf(keys, kind, value);
  if (holder === null) return null;
  const person = yield* first<PersonRow>("person", holder);
  const identifiers = (yield ["identifiers", holder]) as IdentifierRow[];
  if (person?.tenant_id !== keys.tenant.id) return null;
  const { id } = person;
  const opened = (column: "sealed_external_id" | "sealed_names" | "sealed_birth") =>
    person[column] === null ? null : open(keys, "beneficiaries", id, column, person[column]);
  return {
    id,
    externalId: opened("sealed_external_id"),
    names: JSON.parse(opened("sealed_names") ?? "{}"),
    birth: JSON.parse(opened("sealed_birth") ?? "null"),
    identifiers: identifiers.map((identifier) => ({
      kind: identifier.kind,
      type: identifier.type,
      value: open(keys, "identifiers", identifier.id, "sealed_value", identifier.sealed_value),
    })),
  };
}
