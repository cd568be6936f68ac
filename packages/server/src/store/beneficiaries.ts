import { type Selectable, type SqlBool, sql } from "kysely";
import type { Beneficiary, IdentifierKind, Names } from "../people/beneficiary.ts";
import type { BirthDate } from "../people/birth-date.ts";
import type { TenantCipher } from "../people/data-keys.ts";
import { canonicalExternalId } from "../people/identifiers.ts";
import { isOneOf } from "./bulk.ts";
import type { BeneficiaryTable, IdentifierTable } from "./schema.ts";
import type { Queries } from "./store.ts";

/** Where each sealed text of a beneficiary lies. */
export const places = {
  beneficiary: (row: string, column: keyof BeneficiaryTable) => ({ table: "beneficiaries", row, column }),
  identifier: (row: string) => ({ table: "identifiers", row, column: "sealed_value" }),
};

export async function findBeneficiary(q: Queries, cipher: TenantCipher, id: string): Promise<Beneficiary | null> {
  const [found] = await readBeneficiaries(q, cipher, [id]);
  return found ?? null;
}

/** The ids of the active people of the cipher's tenant who have this identifier, in its canonical form. */
export async function findIdsByIdentifier(
  q: Queries,
  cipher: TenantCipher,
  kind: IdentifierKind,
  canonical: string,
): Promise<string[]> {
  const rows = await q.db
    .selectFrom("identifiers")
    .select("beneficiary_id")
    .distinct()
    .where("tenant_id", "=", cipher.tenantId)
    .where("lookup", "in", cipher.indexes(kind, canonical))
    .where("active", "=", 1)
    .execute();
  return rows.map((row) => row.beneficiary_id);
}

/** The same people with all that is known of them, the oldest first. */
export async function findByIdentifier(
  q: Queries,
  cipher: TenantCipher,
  kind: IdentifierKind,
  canonical: string,
): Promise<Beneficiary[]> {
  return readBeneficiaries(q, cipher, await findIdsByIdentifier(q, cipher, kind, canonical));
}

/** Nobody has this id: reading it costs what reading somebody costs. */
const nobody = "nobody";

/**
 * The one active person with this identifier. Takes the same queries whether there is one or not, so that the time of
 * an answer does not tell which.
 */
export async function findHolder(
  q: Queries,
  cipher: TenantCipher,
  kind: IdentifierKind,
  canonical: string,
): Promise<Beneficiary | null> {
  const [only, ...others] = await findIdsByIdentifier(q, cipher, kind, canonical);
  const people = await readBeneficiaries(q, cipher, [only !== undefined && others.length === 0 ? only : nobody]);
  return people[0] ?? null;
}

export async function findByExternalId(
  q: Queries,
  cipher: TenantCipher,
  externalId: string,
): Promise<Beneficiary | null> {
  const row = await q.db
    .selectFrom("beneficiaries")
    .select("id")
    .where("tenant_id", "=", cipher.tenantId)
    .where("external_lookup", "in", cipher.indexes("external_id", canonicalExternalId(externalId)))
    .executeTakeFirst();
  return row ? findBeneficiary(q, cipher, row.id) : null;
}

/** Whether the person may still sign in; until the transaction ends nobody can change that. */
export async function beneficiaryIsActive(tx: Queries, tenantId: string, id: string): Promise<boolean> {
  let query = tx.db
    .selectFrom("beneficiaries")
    .select("id")
    .where("id", "=", id)
    .where("tenant_id", "=", tenantId)
    .where("disabled_at", "is", null);
  // SQLite runs one writer at a time and needs no lock.
  if (tx.kind === "postgres") query = query.forShare();
  return (await query.executeTakeFirst()) !== undefined;
}

/** Those of the cipher's tenant with these ids, the oldest first. */
export async function readBeneficiaries(
  q: Queries,
  cipher: TenantCipher,
  ids: readonly string[],
): Promise<Beneficiary[]> {
  if (ids.length === 0) return [];
  // Asked for the tenant as well, SQLite would rather read all of its people than a dozen ids.
  const rows = await q.db
    .selectFrom("beneficiaries")
    .selectAll()
    .where((eb) => (ids.length > few ? isOneOf(q, "id", ids) : eb("id", "in", ids)))
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  const own = rows.filter((row) => row.tenant_id === cipher.tenantId);
  return withIdentifiers(q, cipher, own, ids);
}

/** So many ids are listed one by one: a few statements that stay prepared. */
const few = 4;

async function withIdentifiers(
  q: Queries,
  cipher: TenantCipher,
  rows: readonly Selectable<BeneficiaryTable>[],
  ids: readonly string[],
): Promise<Beneficiary[]> {
  if (ids.length === 0) return [];
  const identifiers = await q.db
    .selectFrom("identifiers")
    .selectAll()
    .where((eb) => (ids.length > few ? isOneOf(q, "beneficiary_id", ids) : eb("beneficiary_id", "in", ids)))
    .orderBy("position")
    .execute();
  const byPerson = Map.groupBy(identifiers, (identifier) => identifier.beneficiary_id);
  return rows.map((row) => toBeneficiary(cipher, row, byPerson.get(row.id) ?? []));
}

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

function toBeneficiary(
  cipher: TenantCipher,
  row: Selectable<BeneficiaryTable>,
  identifiers: readonly Selectable<IdentifierTable>[],
): Beneficiary {
  const open = (column: "sealed_external_id" | "sealed_names" | "sealed_birth") => {
    const sealed = row[column];
    return sealed === null ? null : cipher.open(places.beneficiary(row.id, column), sealed);
  };
  const valuesOf = (kind: IdentifierKind) =>
    identifiers
      .filter((identifier) => identifier.kind === kind)
      .map((identifier) => ({
        type: identifier.type,
        number: cipher.open(places.identifier(identifier.id), identifier.sealed_value),
      }));
  return {
    id: row.id,
    tenantId: row.tenant_id,
    externalId: open("sealed_external_id"),
    names: JSON.parse(open("sealed_names") ?? "{}") as Names,
    birth: JSON.parse(open("sealed_birth") ?? "null") as BirthDate | null,
    language: row.language,
    version: row.version,
    disabledAt: row.disabled_at,
    phones: valuesOf("phone").map(({ number }) => number),
    emails: valuesOf("email").map(({ number }) => number),
    nationalIds: valuesOf("national_id"),
  };
}

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
  return [...people, ...identifiers, ...cards].flatMap((row) => Object.values(row).filter((text) => text !== null));
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
