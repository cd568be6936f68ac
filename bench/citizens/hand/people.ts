import { mac, open } from "./crypto.ts";
import type { CitizenKeys } from "./keys.ts";
import { first, type Work } from "./statements.ts";

/** The one active person with a phone number. */
export function* holderIdOf({ tenant }: CitizenKeys, phone: string): Work<string | null> {
  const holders = yield ["holders", tenant.id, mac(tenant.index, "phone", phone)];
  const [holder] = holders as { beneficiary_id: string }[];
  return holder && holders.length === 1 ? holder.beneficiary_id : null;
}

interface BornRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly sealed_birth: string | null;
}

export interface BornPerson {
  readonly id: string;
  readonly birth: { year: number; month?: number; day?: number } | null;
}

/** The one active person with an ID number, with their date of birth opened. */
export function* bornHolderOf(keys: CitizenKeys, idNumber: string): Work<BornPerson | null> {
  const { tenant } = keys;
  const row = yield* first<BornRow>("bornHolder", tenant.id, mac(tenant.index, "national_id", idNumber));
  if (row?.tenant_id !== tenant.id) return null;
  const { id, sealed_birth: sealed } = row;
  return { id, birth: sealed === null ? null : JSON.parse(open(keys, "beneficiaries", id, "sealed_birth", sealed)) };
}
