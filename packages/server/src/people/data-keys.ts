import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import type { Clock } from "../clock.ts";
import type { Queries, Store } from "../store/store.ts";
import type { KeyVault } from "../tokens/key-vault.ts";
import { openKeysForChange } from "../tokens/keys.ts";

/** Where a sealed text lies. It opens in no other place: a row cannot be moved to another person or tenant. */
export interface Place {
  readonly table: string;
  readonly row: string;
  readonly column: string;
}

/** Encrypts and indexes one tenant's personal data. */
export interface TenantCipher {
  readonly tenantId: string;
  /** The version that new writes use. */
  readonly version: number;
  seal(place: Place, plain: string): string;
  /** Opens what any version sealed. */
  open(place: Place, sealed: string): string;
  /** Blind index under the key that new writes use, to be written. `kind` keeps a phone number and an ID number apart. */
  index(kind: string, value: string): string;
  /** Blind indexes under every key, newest first, to be looked for: while keys rotate both are in use. */
  indexes(kind: string, value: string): readonly string[];
}

export interface DataKeys {
  /** The cipher of a tenant, whose keys are made when they are first needed. */
  cipher(tenantId: string): Promise<TenantCipher>;
  /** The versions of a tenant's keys that there are, newest first. */
  versions(tenantId: string): Promise<DataKeyVersion[]>;
  /** Makes the next version of a tenant's keys; re-encrypting what exists is the caller's work. */
  addVersion(tenantId: string, version: number): Promise<void>;
  /** Forgets the versions that nothing is written with any more. */
  dropBefore(tenantId: string, version: number): Promise<void>;
}

export interface DataKeyVersion {
  readonly version: number;
  /** Milliseconds since it was made, by the database's clock. */
  readonly age: number;
}

interface KeyPair extends DataKeyVersion {
  readonly data: KeyObject;
  readonly index: KeyObject;
}

/** How long a node goes on with the keys it has read. */
const keepMs = 1000;

/** A new version is known to every node for this long before anyone writes with it, so that nobody meets it unknown. */
export const dataKeyLeadMs = 5000;

export function createDataKeys(store: Store, vault: KeyVault, clock: Clock): DataKeys {
  const kept = new Map<string, { readonly cipher: TenantCipher; readonly until: number }>();

  async function load(tenantId: string): Promise<TenantCipher> {
    const pairs = await readPairs(store, vault, tenantId);
    const cipher = createCipher(tenantId, pairs.length > 0 ? pairs : [await addPair(tenantId, 1)]);
    kept.set(tenantId, { cipher, until: clock.monotonic() + keepMs });
    return cipher;
  }

  /** Whoever is first makes it; whoever comes second reads it. */
  async function addPair(tenantId: string, version: number): Promise<KeyPair> {
    await store.transaction(async (tx) => {
      await openKeysForChange(tx, vault);
      for (const purpose of ["data", "index"]) {
        const id = `${tenantId}/${purpose}/${version}`;
        await tx.db
          .insertInto("tenant_keys")
          .values({
            id,
            tenant_id: tenantId,
            purpose,
            version,
            sealed: vault.seal(id, `tenant-${purpose}`, randomBytes(32)),
            created_at: tx.now,
          })
          .onConflict((conflict) => conflict.column("id").doNothing())
          .execute();
      }
    });
    const pair = (await readPairs(store, vault, tenantId)).find((each) => each.version === version);
    if (!pair) throw new Error(`The keys of tenant ${tenantId} are gone.`);
    return pair;
  }

  return {
    async cipher(tenantId) {
      const known = kept.get(tenantId);
      return known && known.until > clock.monotonic() ? known.cipher : load(tenantId);
    },
    async versions(tenantId) {
      return (await readPairs(store, vault, tenantId)).map(({ version, age }) => ({ version, age }));
    },
    async addVersion(tenantId, version) {
      await addPair(tenantId, version);
      await load(tenantId);
    },
    async dropBefore(tenantId, version) {
      await store.db
        .deleteFrom("tenant_keys")
        .where("tenant_id", "=", tenantId)
        .where("version", "<", version)
        .execute();
      await load(tenantId);
    },
  };
}

/** All versions, newest first. */
async function readPairs(q: Queries, vault: KeyVault, tenantId: string): Promise<KeyPair[]> {
  const rows = await q.db
    .selectFrom("tenant_keys")
    .selectAll()
    .select(q.now.as("now"))
    .where("tenant_id", "=", tenantId)
    .orderBy("version", "desc")
    .execute();
  const keyOf = (purpose: string, version: number) => {
    const row = rows.find((each) => each.purpose === purpose && each.version === version);
    // Node takes four times as long with plain bytes.
    return row && createSecretKey(vault.open(row.id, `tenant-${purpose}`, row.sealed));
  };
  return [...new Map(rows.map((row) => [row.version, row.now - row.created_at]))].flatMap(([version, age]) => {
    const data = keyOf("data", version);
    const index = keyOf("index", version);
    return data && index ? [{ version, age, data, index }] : [];
  });
}

/** Seals a tenant's keys anew under another secret; the caller holds the keys for change. */
export async function rewrapDataKeys(tx: Queries, from: KeyVault, to: KeyVault): Promise<number> {
  const rows = await tx.db.selectFrom("tenant_keys").select(["id", "purpose", "sealed"]).execute();
  for (const { id, purpose, sealed } of rows) {
    const next = to.seal(id, `tenant-${purpose}`, from.open(id, `tenant-${purpose}`, sealed));
    await tx.db.updateTable("tenant_keys").set({ sealed: next }).where("id", "=", id).execute();
  }
  return rows.length;
}

const ivLength = 12;
const tagLength = 16;

function createCipher(tenantId: string, pairs: readonly KeyPair[]): TenantCipher {
  const writer = pairs.find((pair) => pair.age >= dataKeyLeadMs) ?? pairs.at(-1);
  if (!writer) throw new Error(`The tenant ${tenantId} has no keys.`);
  const associatedData = (place: Place) =>
    Buffer.from(JSON.stringify([tenantId, place.table, place.row, place.column]));
  const blind = (key: KeyObject, kind: string, value: string) =>
    createHmac("sha256", key)
      .update(JSON.stringify([kind, value]))
      .digest("base64url");

  return {
    tenantId,
    version: writer.version,
    seal(place, plain) {
      const iv = randomBytes(ivLength);
      const cipher = createCipheriv("aes-256-gcm", writer.data, iv).setAAD(associatedData(place));
      const sealed = Buffer.concat([iv, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${writer.version}.${sealed.toString("base64url")}`;
    },
    open(place, sealed) {
      const [version = "", text = ""] = sealed.split(".");
      const pair = pairs.find((each) => each.version === Number(version));
      if (!pair) throw new Error(`The tenant ${tenantId} has no key of version ${version}.`);
      const bytes = Buffer.from(text, "base64url");
      const decipher = createDecipheriv("aes-256-gcm", pair.data, bytes.subarray(0, ivLength));
      decipher.setAAD(associatedData(place)).setAuthTag(bytes.subarray(-tagLength));
      return decipher.update(bytes.subarray(ivLength, -tagLength), undefined, "utf8") + decipher.final("utf8");
    },
    index: (kind, value) => blind(writer.index, kind, value),
    indexes: (kind, value) => pairs.map((pair) => blind(pair.index, kind, value)),
  };
}
