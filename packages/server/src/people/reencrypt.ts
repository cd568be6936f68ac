import { type SqlBool, sql } from "kysely";
import { places } from "../store/beneficiaries.ts";
import { isOneOf, updateMany } from "../store/bulk.ts";
import type { Queries } from "../store/store.ts";
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
  await updateMany(
    tx,
    "beneficiaries",
    {
      external_lookup: "text",
      sealed_external_id: "text",
      sealed_names: "text",
      sealed_birth: "text",
      key_version: "bigint",
    },
    people.map((person) => {
      const again = (column: "sealed_external_id" | "sealed_names" | "sealed_birth") => {
        const sealed = person[column];
        const place = places.beneficiary(person.id, column);
        const text = sealed === null ? null : cipher.open(place, sealed);
        return { text, sealed: text === null ? null : cipher.seal(place, text) };
      };
      const externalId = again("sealed_external_id");
      return {
        id: person.id,
        external_lookup: externalId.text === null ? null : cipher.index("external_id", externalId.text),
        sealed_external_id: externalId.sealed,
        sealed_names: again("sealed_names").sealed,
        sealed_birth: again("sealed_birth").sealed,
        key_version: cipher.version,
      };
    }),
  );
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
  await updateMany(
    tx,
    "identifiers",
    { lookup: "text", sealed_value: "text" },
    rows.map(({ id, kind, sealed_value: sealed }) => {
      const place = places.identifier(id);
      const value = cipher.open(place, sealed);
      return { id, lookup: cipher.index(kind, value), sealed_value: cipher.seal(place, value) };
    }),
  );
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
