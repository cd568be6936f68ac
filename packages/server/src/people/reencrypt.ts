import { type SqlBool, sql } from "kysely";
import { places } from "../store/beneficiaries.ts";
import { isOneOf, updateMany } from "../store/bulk.ts";
import { prepare } from "../store/prepared.ts";
import type { Queries } from "../store/store.ts";
import { eventPlace } from "../store/sync-log.ts";
import { vaultKeyPlace } from "../store/vault-keys.ts";
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

/** Seals the next events behind a position anew; `last` is where to go on, null at the end. */
export async function reencryptEvents(
  tx: Queries,
  cipher: TenantCipher,
  after: number,
): Promise<{ readonly count: number; readonly last: number | null }> {
  let query = tx.db
    .selectFrom("sync_events")
    .select(["position", "id", "entity_id", "sealed_event"])
    .where("tenant_id", "=", cipher.tenantId)
    .where("position", ">", after)
    .where("sealed_event", "is not", null)
    .where(isOlder("sealed_event", cipher.version))
    .orderBy("position")
    .limit(batchSize);
  // Whoever erases one of them waits, and then has the last word.
  if (tx.kind === "postgres") query = query.forUpdate();
  const events = await query.execute();
  for (const { position, id, entity_id: entityId, sealed_event: old } of events) {
    const place = eventPlace(entityId, id);
    const sealed = cipher.seal(place, cipher.open(place, old ?? ""));
    await sealEvent(tx, { tenantId: cipher.tenantId, position, sealed, size: sealed.length });
  }
  return { count: events.length, last: events.length < batchSize ? null : (events.at(-1)?.position ?? null) };
}

interface SealedAnew {
  readonly tenantId: string;
  readonly position: number;
  readonly sealed: string;
  readonly size: number;
}

const sealEvent = prepare((q, { tenantId, position, sealed, size }: SealedAnew) =>
  q.db
    .updateTable("sync_events")
    .set({ sealed_event: sealed, size })
    .where("tenant_id", "=", tenantId)
    .where("position", "=", position),
);

/** Seals a batch of vault keys anew; returns how many they were. */
export async function reencryptVaultKeys(tx: Queries, cipher: TenantCipher): Promise<number> {
  let query = tx.db
    .selectFrom("vault_keys")
    .select(["user_id", "sealed_key"])
    .where("tenant_id", "=", cipher.tenantId)
    .where(isOlder("sealed_key", cipher.version))
    .limit(batchSize);
  if (tx.kind === "postgres") query = query.forUpdate();
  const keys = await query.execute();
  for (const { user_id: userId, sealed_key: sealed } of keys) {
    const place = vaultKeyPlace(userId);
    await tx.db
      .updateTable("vault_keys")
      .set({ sealed_key: cipher.seal(place, cipher.open(place, sealed)) })
      .where("tenant_id", "=", cipher.tenantId)
      .where("user_id", "=", userId)
      .execute();
  }
  return keys.length;
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
    .unionAll(
      db
        .selectFrom("sync_events")
        .select("tenant_id")
        .where("tenant_id", "=", tenantId)
        .where("sealed_event", "is not", null)
        .where(isOlder("sealed_event", version)),
    )
    .unionAll(
      db
        .selectFrom("vault_keys")
        .select("tenant_id")
        .where("tenant_id", "=", tenantId)
        .where(isOlder("sealed_key", version)),
    )
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
