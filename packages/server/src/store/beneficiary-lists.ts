import { type SqlBool, sql } from "kysely";
import type { Beneficiary, IdentifierKind } from "../people/beneficiary.ts";
import type { TenantCipher } from "../people/data-keys.ts";
import { readBeneficiaries, withIdentifiers } from "./beneficiaries.ts";
import { isOneOf } from "./bulk.ts";
import type { Queries } from "./store.ts";

/** The people with these external ids, by their external id. */
export async function findByExternalIds(
  q: Queries,
  cipher: TenantCipher,
  externalIds: readonly string[],
): Promise<Map<string, Beneficiary>> {
  const lookups = externalIds.flatMap((externalId) => cipher.indexes("external_id", externalId));
  const rows = await q.db
    .selectFrom("beneficiaries")
    .select("id")
    .where("tenant_id", "=", cipher.tenantId)
    .where(isOneOf(q, "external_lookup", lookups))
    .execute();
  const people = await readBeneficiaries(
    q,
    cipher,
    rows.map((row) => row.id),
  );
  return new Map(people.map((person) => [person.externalId ?? "", person]));
}

/** The ids of the active people who have these ID numbers, by number. */
export async function findHolders(
  q: Queries,
  cipher: TenantCipher,
  numbers: readonly string[],
): Promise<Map<string, string>> {
  if (numbers.length === 0) return new Map();
  const byLookup = new Map(
    numbers.flatMap((number) => cipher.indexes("national_id", number).map((lookup) => [lookup, number] as const)),
  );
  const rows = await q.db
    .selectFrom("identifiers")
    .select(["lookup", "beneficiary_id"])
    .where("tenant_id", "=", cipher.tenantId)
    .where("kind", "=", "national_id")
    .where("active", "=", 1)
    .where(isOneOf(q, "lookup", [...byLookup.keys()]))
    .execute();
  return new Map(rows.map((row) => [byLookup.get(row.lookup) ?? "", row.beneficiary_id]));
}

export interface PageChoice {
  /** Whoever comes behind the person with this id; null for the first page. */
  readonly after: string | null;
  readonly limit: number;
  readonly state?: "active" | "disabled" | undefined;
}

/** The people of the cipher's tenant, a page at a time, in an order that stays the same while no keys are rotated. */
export async function pageOfBeneficiaries(
  q: Queries,
  cipher: TenantCipher,
  { after, limit, state }: PageChoice,
): Promise<Beneficiary[]> {
  let query = q.db
    .selectFrom("beneficiaries")
    .selectAll()
    .where("tenant_id", "=", cipher.tenantId)
    .orderBy("key_version")
    .orderBy("id")
    .limit(limit);
  if (after !== null) {
    const last = q.db.selectFrom("beneficiaries").select("key_version").where("id", "=", after);
    query = query.where(sql<SqlBool>`(key_version, id) > ((${last}), ${after})`);
  }
  if (state !== undefined) query = query.where("disabled_at", state === "active" ? "is" : "is not", null);
  const rows = await query.execute();
  return withIdentifiers(
    q,
    cipher,
    rows,
    rows.map((row) => row.id),
  );
}

export interface BeneficiaryCount {
  readonly active: number;
  readonly disabled: number;
}

export async function countBeneficiaries(q: Queries, tenantId: string): Promise<BeneficiaryCount> {
  const row = await q.db
    .selectFrom("beneficiaries")
    .select((eb) => [eb.fn.countAll<number>().as("all"), eb.fn.count<number>("disabled_at").as("disabled")])
    .where("tenant_id", "=", tenantId)
    .executeTakeFirstOrThrow();
  return { active: Number(row.all) - Number(row.disabled), disabled: Number(row.disabled) };
}

/** Everyone of the cipher's tenant who has this identifier, disabled people too; the oldest first. */
export async function findAllByIdentifier(
  q: Queries,
  cipher: TenantCipher,
  kind: IdentifierKind,
  canonical: string,
): Promise<Beneficiary[]> {
  const rows = await q.db
    .selectFrom("identifiers")
    .select("beneficiary_id")
    .distinct()
    .where("tenant_id", "=", cipher.tenantId)
    .where("lookup", "in", cipher.indexes(kind, canonical))
    .execute();
  return readBeneficiaries(
    q,
    cipher,
    rows.map((row) => row.beneficiary_id),
  );
}

/** People who were disabled longer ago than this. */
export async function findLongDisabled(
  q: Queries,
  tenantId: string,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<string[]> {
  const rows = await q.db
    .selectFrom("beneficiaries")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where("disabled_at", "is not", null)
    .where("disabled_at", "<=", sql<number>`${q.now} - cast(${days * 86_400_000} as bigint)`)
    .orderBy("disabled_at")
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}
