import { isOneOf } from "./bulk.ts";
import type { Queries } from "./store.ts";

/** Every sealed text and blind index that is kept of a person: what must not be found any more when they are erased. */
export async function tracesOf(q: Queries, id: string): Promise<string[]> {
  const people = await q.db
    .selectFrom("beneficiaries")
    .select(["external_lookup", "sealed_external_id", "sealed_names", "sealed_birth"])
    .where("id", "=", id)
    .execute();
  const identifiers = await q.db
    .selectFrom("identifiers")
    .select(["lookup", "sealed_value"])
    .where("beneficiary_id", "=", id)
    .execute();
  const cards = await q.db
    .selectFrom("cards")
    .select(["lookup", "sealed_number"])
    .where("beneficiary_id", "=", id)
    .execute();
  const vaultKeys = await q.db.selectFrom("vault_keys").select("sealed_key").where("user_id", "=", id).execute();
  return [...people, ...identifiers, ...cards, ...vaultKeys].flatMap((row) =>
    Object.values(row).filter((text) => text !== null),
  );
}

/** Those traces that nobody else has left too: a household's phone number has one index, whoever of it is erased. */
export async function lostTraces(tx: Queries, tenantId: string, traces: readonly string[]): Promise<string[]> {
  const identifiers = await tx.db
    .selectFrom("identifiers")
    .select("lookup")
    .where("tenant_id", "=", tenantId)
    .where(isOneOf(tx, "lookup", traces))
    .execute();
  const living = new Set(identifiers.map((row) => row.lookup));
  return traces.filter((trace) => !living.has(trace));
}
