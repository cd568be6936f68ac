import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import type { JWK } from "jose";
import type { Queries } from "../store/store.ts";
import type { KeyVault } from "../tokens/key-vault.ts";
import { type KeyRecord, listKeys, loadSecretKey } from "../tokens/keys.ts";

export interface SigningKey {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly publicJwk: JWK;
}

/** The journal key in force: the newest that is active and has not retired. */
export function activeJournalKey(keys: readonly KeyRecord[], now: number): KeyRecord | null {
  const inForce = keys.filter(
    (key) => key.purpose === "journal" && key.activeFrom <= now && (key.retiresAt === null || key.retiresAt > now),
  );
  return inForce.reduce<KeyRecord | null>(
    (newest, key) => (newest && newest.activeFrom >= key.activeFrom ? newest : key),
    null,
  );
}

/** Reads the journal key in force each time it is asked, and keeps opened ones, so that a rotation is followed. */
export function createSigningKeys(vault: KeyVault): (q: Queries, now: number) => Promise<SigningKey> {
  const opened = new Map<string, SigningKey>();
  return async (q, now) => {
    const record = activeJournalKey(await listKeys(q), now);
    if (!record) throw new Error("There is no journal key in force. `fieldgate keys list` shows the ones there are.");
    const known = opened.get(record.id);
    if (known) return known;
    const secret = await loadSecretKey(q, vault, record.id);
    const privateKey = createPrivateKey({ key: Buffer.from(secret), format: "der", type: "pkcs8" });
    const key = { id: record.id, privateKey, publicJwk: exportPublicJwk(privateKey) };
    opened.set(record.id, key);
    return key;
  };
}

export function exportPublicJwk(privateKey: KeyObject): JWK {
  return createPublicKey(privateKey).export({ format: "jwk" }) as JWK;
}
