import { generateKeyPairSync, randomBytes } from "node:crypto";
import type { JWK } from "jose";
import type { Selectable } from "kysely";
import { longestAccessSeconds } from "../config/policy.ts";
import { deploymentTenant } from "../journal/event.ts";
import { recordEvent } from "../journal/record.ts";
import { sendHint } from "../store/hint.ts";
import type { KeyTable } from "../store/schema.ts";
import type { Queries, Store } from "../store/store.ts";
import { type KeyVault, KeyVaultError } from "./key-vault.ts";

/** What a key is for; no key serves two purposes. */
export const keyPurposes = ["access", "refresh", "device", "nonce", "index", "otp", "journal"] as const;
export type KeyPurpose = (typeof keyPurposes)[number];

/** The purposes whose keys are replaced over time. The others name things at rest, which would no longer be found. */
export const rotatingPurposes = ["access", "refresh", "journal"] as const satisfies readonly KeyPurpose[];
export type RotatingPurpose = (typeof rotatingPurposes)[number];

export interface KeyRecord {
  readonly id: string;
  readonly purpose: KeyPurpose;
  readonly alg: string;
  readonly publicJwk: JWK | null;
  readonly createdAt: number;
  readonly activeFrom: number;
  readonly retiresAt: number | null;
  readonly expiresAt: number | null;
}

/** Changed whenever keys do: nodes re-read them at once. */
export const keysTopic = "keys";

interface KeyMaterial {
  readonly alg: string;
  readonly publicJwk: JWK | null;
  readonly secret: Uint8Array;
}

function pair(alg: string, keys: ReturnType<typeof generateKeyPairSync>): KeyMaterial {
  return {
    alg,
    publicJwk: keys.publicKey.export({ format: "jwk" }) as JWK,
    secret: keys.privateKey.export({ format: "der", type: "pkcs8" }),
  };
}

function generate(purpose: KeyPurpose): KeyMaterial {
  switch (purpose) {
    case "access":
      return pair("ES256", generateKeyPairSync("ec", { namedCurve: "P-256" }));
    case "journal":
      return pair("EdDSA", generateKeyPairSync("ed25519"));
    default:
      return { alg: "HS256", publicJwk: null, secret: randomBytes(32) };
  }
}

function toRecord(row: Selectable<KeyTable>): KeyRecord {
  return {
    id: row.id,
    purpose: row.purpose as KeyPurpose,
    alg: row.alg,
    publicJwk: row.public_jwk === null ? null : (JSON.parse(row.public_jwk) as JWK),
    createdAt: row.created_at,
    activeFrom: row.active_from,
    retiresAt: row.retires_at,
    expiresAt: row.expires_at,
  };
}

async function insertKey(tx: Queries, vault: KeyVault, purpose: KeyPurpose, leadSeconds: number): Promise<KeyRecord> {
  const material = generate(purpose);
  const id = `${purpose}-${randomBytes(9).toString("base64url")}`;
  const row = await tx.db
    .insertInto("keys")
    .values((eb) => ({
      id,
      purpose,
      alg: material.alg,
      public_jwk: material.publicJwk && JSON.stringify(material.publicJwk),
      sealed: vault.seal(id, purpose, material.secret),
      created_at: tx.now,
      active_from: eb(tx.now, "+", leadSeconds * 1000),
      retires_at: null,
      expires_at: null,
    }))
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordEvent(tx, { tenantId: deploymentTenant, type: "key.created", data: { key: id, purpose } });
  return toRecord(row);
}

const secretIdName = "secret_id";

/** A node with a forgotten secret must not seal new keys that its neighbours cannot open. */
async function demandCurrentSecret(tx: Queries, vault: KeyVault): Promise<void> {
  const row = await tx.db.selectFrom("deployment").select("value").where("name", "=", secretIdName).executeTakeFirst();
  if (row && row.value !== vault.secretId) {
    throw new KeyVaultError(
      "The database belongs to another deployment secret. Start with the FIELDGATE_SECRET it was made or last rotated with.",
    );
  }
  if (!row) await tx.db.insertInto("deployment").values({ name: secretIdName, value: vault.secretId }).execute();
}

/** Makes the keys of the first start, and of a purpose that is new; safe while other nodes do the same. */
export async function ensureKeys(store: Store, vault: KeyVault): Promise<void> {
  await store.transaction(async (tx) => {
    await lockKeys(tx);
    const purposes = await tx.db.selectFrom("keys").select("purpose").distinct().execute();
    const present = new Set(purposes.map((row) => row.purpose));
    const missing = keyPurposes.filter((purpose) => !present.has(purpose));
    if (missing.length === 0) return;
    await demandCurrentSecret(tx, vault);
    for (const purpose of missing) await insertKey(tx, vault, purpose, 0);
  });
}

/** One change of the keys at a time: on PostgreSQL two nodes would otherwise both find a purpose missing. */
async function lockKeys(tx: Queries): Promise<void> {
  await tx.db
    .insertInto("deployment")
    .values({ name: "keys_lock", value: "" })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value: "" }))
    .execute();
}

/** Before a key is made or sealed anew: others wait until this transaction ends, and the secret is the deployment's. */
export async function openKeysForChange(tx: Queries, vault: KeyVault): Promise<void> {
  await lockKeys(tx);
  await demandCurrentSecret(tx, vault);
}

export async function listKeys(q: Queries): Promise<KeyRecord[]> {
  const rows = await q.db.selectFrom("keys").selectAll().orderBy("active_from").orderBy("id").execute();
  return rows.map(toRecord);
}

export interface RotateOptions {
  /** Seconds the new key is published before it is used, so that nobody meets it unknown. */
  readonly leadSeconds: number;
}

/** How long something made with a retired key can still be valid; other keys than these are kept for ever. */
const afterlifeSeconds: Partial<Record<KeyPurpose, number>> = { access: longestAccessSeconds + 3600 };

/** Makes the next key of a purpose; the present one retires when the new one becomes active. */
export async function rotateKey(
  store: Store,
  vault: KeyVault,
  purpose: RotatingPurpose,
  { leadSeconds }: RotateOptions,
): Promise<KeyRecord> {
  return store.transaction(async (tx) => {
    await openKeysForChange(tx, vault);
    const next = await insertKey(tx, vault, purpose, leadSeconds);
    const afterlife = afterlifeSeconds[purpose];
    await tx.db
      .updateTable("keys")
      .set({
        retires_at: next.activeFrom,
        expires_at: afterlife === undefined ? null : next.activeFrom + afterlife * 1000,
      })
      .where("purpose", "=", purpose)
      .where("retires_at", "is", null)
      .where("id", "!=", next.id)
      .execute();
    await sendHint(tx, keysTopic);
    return next;
  });
}

/** Seals the deployment's keys anew under another secret; what else hangs on it is `rewrapSecrets`' work. */
export async function rewrapKeys(tx: Queries, from: KeyVault, to: KeyVault): Promise<number> {
  await lockKeys(tx);
  const rows = await tx.db.selectFrom("keys").select(["id", "purpose", "sealed"]).execute();
  for (const row of rows) {
    const sealed = to.seal(row.id, row.purpose, from.open(row.id, row.purpose, row.sealed));
    await tx.db.updateTable("keys").set({ sealed }).where("id", "=", row.id).execute();
  }
  await tx.db.updateTable("deployment").set({ value: to.secretId }).where("name", "=", secretIdName).execute();
  return rows.length;
}

/** The secret half of a key: PKCS #8 for a pair, the bytes themselves for a MAC key. */
export async function loadSecretKey(q: Queries, vault: KeyVault, id: string): Promise<Uint8Array> {
  const row = await q.db.selectFrom("keys").select(["purpose", "sealed"]).where("id", "=", id).executeTakeFirst();
  if (!row) throw new KeyVaultError(`There is no key ${id}.`);
  return vault.open(id, row.purpose, row.sealed);
}
