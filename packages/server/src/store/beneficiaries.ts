import type { Selectable } from "kysely";
import type { Beneficiary, IdentifierKind, Names } from "../people/beneficiary.ts";
import type { BirthDate } from "../people/birth-date.ts";
import type { TenantCipher } from "../people/data-keys.ts";
import { canonicalExternalId } from "../people/identifiers.ts";
import { isOneOf } from "./bulk.ts";
import { prepare } from "./prepared.ts";
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

const holdersOf = (q: Queries, tenantId: string, lookups: readonly string[]) =>
  q.db
    .selectFrom("identifiers")
    .select("beneficiary_id")
    .distinct()
    .where("tenant_id", "=", tenantId)
    .where("lookup", "in", lookups)
    .where("active", "=", 1);

/** Only while keys rotate is there more than one to look for. */
const holdersOfOne = prepare((q, { tenantId, lookup }: { tenantId: string; lookup: string }) =>
  holdersOf(q, tenantId, [lookup]),
);

/** The ids of the active people of the cipher's tenant who have this identifier, in its canonical form. */
export async function findIdsByIdentifier(
  q: Queries,
  cipher: TenantCipher,
  kind: IdentifierKind,
  canonical: string,
): Promise<string[]> {
  const { tenantId } = cipher;
  const [lookup = "", ...older] = cipher.indexes(kind, canonical);
  const rows = await (older.length === 0
    ? holdersOfOne(q, { tenantId, lookup })
    : holdersOf(q, tenantId, [lookup, ...older]).execute());
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

/** Who someone is, and when they were born: all that an ID number with a date is compared with. */
export interface BornPerson {
  readonly id: string;
  readonly birth: BirthDate | null;
}

const bornHolders = (q: Queries, tenantId: string, lookups: readonly string[]) =>
  q.db
    .selectFrom("identifiers")
    .innerJoin("beneficiaries", "beneficiaries.id", "identifiers.beneficiary_id")
    .select(["beneficiaries.id", "beneficiaries.tenant_id", "beneficiaries.sealed_birth"])
    .where("identifiers.tenant_id", "=", tenantId)
    .where("identifiers.lookup", "in", lookups)
    .where("identifiers.active", "=", 1);

const bornHoldersOfOne = prepare((q, { tenantId, lookup }: { tenantId: string; lookup: string }) =>
  bornHolders(q, tenantId, [lookup]),
);

/** The one active person with this ID number, and nothing of theirs but the date. One query, whether there is one or not. */
export async function findBornHolder(q: Queries, cipher: TenantCipher, idNumber: string): Promise<BornPerson | null> {
  const { tenantId } = cipher;
  const [lookup = "", ...older] = cipher.indexes("national_id", idNumber);
  const [row] = await (older.length === 0
    ? bornHoldersOfOne(q, { tenantId, lookup })
    : bornHolders(q, tenantId, [lookup, ...older]).execute());
  return row?.tenant_id === tenantId ? { id: row.id, birth: openBirth(cipher, row) } : null;
}

function openBirth(cipher: TenantCipher, row: Pick<Selectable<BeneficiaryTable>, "id" | "sealed_birth">) {
  if (row.sealed_birth === null) return null;
  return JSON.parse(cipher.open(places.beneficiary(row.id, "sealed_birth"), row.sealed_birth)) as BirthDate | null;
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

const activeOne = prepare((tx, { tenantId, id }: { tenantId: string; id: string }) => {
  const query = tx.db
    .selectFrom("beneficiaries")
    .select("id")
    .where("id", "=", id)
    .where("tenant_id", "=", tenantId)
    .where("disabled_at", "is", null);
  // SQLite runs one writer at a time and needs no lock.
  return tx.kind === "postgres" ? query.forShare() : query;
});

/** Whether the person may still sign in; until the transaction ends nobody can change that. */
export async function beneficiaryIsActive(tx: Queries, tenantId: string, id: string): Promise<boolean> {
  return (await activeOne(tx, { tenantId, id })).length === 1;
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

/** The people of these rows, whose ids they are. */
export async function withIdentifiers(
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

function toBeneficiary(
  cipher: TenantCipher,
  row: Selectable<BeneficiaryTable>,
  identifiers: readonly Selectable<IdentifierTable>[],
): Beneficiary {
  const open = (column: "sealed_external_id" | "sealed_names") => {
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
    birth: openBirth(cipher, row),
    language: row.language,
    version: row.version,
    disabledAt: row.disabled_at,
    phones: valuesOf("phone").map(({ number }) => number),
    emails: valuesOf("email").map(({ number }) => number),
    nationalIds: valuesOf("national_id"),
  };
}
