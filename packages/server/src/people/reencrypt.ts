import { type SqlBool, sql } from "kysely";
import { places } from "../store/beneficiaries.ts";
import { isOneOf } from "../store/bulk.ts";
import type { Queries } from "../store/store.ts";
import type { IdentifierKind } from "./beneficiary.ts";
import { cardNumberPlace } from "./cards.ts";
import type { TenantCipher } from "./data-keys.ts";

const batchSize = 100;

export async function countOlder(q: Queries, tenantId: string, version: number): Promise<number> {
  const row = await q.db
    .selectFrom("beneficiaries")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("tenant_id", "=", tenantId)
    .where("key_version", "<", version)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Seals a batch of people who are written with older keys anew; returns how many they were. */
export async function reencryptPeople(tx: Queries, cipher: TenantCipher): Promise<number> {
  let query = tx.db
    .selectFrom("beneficiaries")
    .select(["id", "sealed_external_id", "sealed_names", "sealed_birth"])
    .where("tenant_id", "=", cipher.tenantId)
    .where("key_version", "<", cipher.version)
    .orderBy("key_version")
    .orderBy("id")
    .limit(batchSize);
  // Whoever changes one of them waits, and then writes what is newer.
  if (tx.kind === "postgres") query = query.forUpdate();
  const people = await query.execute();
  for (const person of people) {
    const open = (column: "sealed_external_id" | "sealed_names" | "sealed_birth") => {
      const sealed = person[column];
      return sealed === null ? null : cipher.open(places.beneficiary(person.id, column), sealed);
    };
    const seal = (column: "sealed_external_id" | "sealed_birth") => {
      const text = open(column);
      return text === null ? null : cipher.seal(places.beneficiary(person.id, column), text);
    };
    const externalId = open("sealed_external_id");
    await tx.db
      .updateTable("beneficiaries")
      .set({
        external_lookup: externalId === null ? null : cipher.index("external_id", externalId),
        sealed_external_id: seal("sealed_external_id"),
        sealed_names: cipher.seal(places.beneficiary(person.id, "sealed_names"), open("sealed_names") ?? "{}"),
        sealed_birth: seal("sealed_birth"),
        key_version: cipher.version,
      })
      .where("id", "=", person.id)
      .execute();
  }
  await reencryptIdentifiers(
    tx,
    cipher,
    people.map((person) => person.id),
  );
  return people.length;
}

async function reencryptIdentifiers(tx: Queries, cipher: TenantCipher, people: readonly string[]): Promise<void> {
  if (people.length === 0) return;
  const rows = await tx.db
    .selectFrom("identifiers")
    .select(["id", "kind", "sealed_value"])
    .where(isOneOf(tx, "beneficiary_id", people))
    .execute();
  for (const { id, kind, sealed_value: sealed } of rows) {
    const value = cipher.open(places.identifier(id), sealed);
    await tx.db
      .updateTable("identifiers")
      .set({
        lookup: cipher.index(kind as IdentifierKind, value),
        sealed_value: cipher.seal(places.identifier(id), value),
      })
      .where("id", "=", id)
      .execute();
  }
}

/** Seals the next cards behind an id anew; `last` is where to go on, null at the end. */
export async function reencryptCards(
  tx: Queries,
  cipher: TenantCipher,
  after: string,
): Promise<{ readonly count: number; readonly last: string | null }> {
  const cards = await tx.db
    .selectFrom("cards")
    .select(["id", "sealed_number"])
    .where("tenant_id", "=", cipher.tenantId)
    .where("sealed_number", "is not", null)
    .where(isOlder("sealed_number", cipher.version))
    .where("id", ">", after)
    .orderBy("id")
    .limit(batchSize)
    .execute();
  for (const { id, sealed_number: sealed } of cards) {
    const number = cipher.open(cardNumberPlace(id), sealed ?? "");
    await tx.db
      .updateTable("cards")
      .set({ lookup: cipher.index("card", number), sealed_number: cipher.seal(cardNumberPlace(id), number) })
      .where("id", "=", id)
      .execute();
  }
  return { count: cards.length, last: cards.length < batchSize ? null : (cards.at(-1)?.id ?? null) };
}

/** Sealed texts begin with the version of their key. */
const isOlder = (column: string, version: number) => sql<SqlBool>`${sql.ref(column)} not like ${`${version}.%`}`;

/** Whether anything that someone may still open is sealed under older keys of a tenant than this version. */
export async function isInUse({ db, now }: Queries, tenantId: string, version: number): Promise<boolean> {
  const row = await db
    .selectFrom("beneficiaries")
    .select("tenant_id")
    .where("tenant_id", "=", tenantId)
    .where("key_version", "<", version)
    .unionAll(
      db
        .selectFrom("cards")
        .select("tenant_id")
        .where("tenant_id", "=", tenantId)
        .where("revoked_at", "is", null)
        .where("expires_at", ">", now)
        .where((eb) => eb.or([eb("sealed_number", "is", null), isOlder("sealed_number", version)])),
    )
    .unionAll(
      db
        .selectFrom("handles")
        .select("tenant_id")
        .where("tenant_id", "=", tenantId)
        .where("expires_at", ">", now)
        .where(isOlder("sealed_state", version)),
    )
    .unionAll(
      db
        .selectFrom("outbox")
        .select("tenant_id")
        .where("tenant_id", "=", tenantId)
        .where("state", "in", ["pending", "sending"])
        .where(isOlder("sealed_job", version)),
    )
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
