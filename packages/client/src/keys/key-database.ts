/** A logout that the server has not heard of yet. The hash can end that session and nothing else. */
export interface PendingLogout {
  readonly refreshTokenHash: string;
  readonly server: string;
}

/** A sign-in that has left for an identity provider. It is good for one return, and for ten minutes. */
export interface PendingSignIn {
  /** When it left, in ms of the device's clock. */
  readonly at: number;
  readonly provider: string;
  readonly tenantId: string;
  /** The key of the session to come, which the nonce in the ID token names together with the salt. */
  readonly pair: CryptoKeyPair;
  readonly salt: string;
  /** Proves to the provider that whoever returns is who left (PKCE). */
  readonly verifier: string;
  readonly redirectUri: string;
  /** Where the person was. */
  readonly returnTo: string | undefined;
  readonly isPopup: boolean;
}

/** What is kept, by kind. `at` (ms of the device's clock) only orders: the oldest of too many is dropped. */
export interface KeyRecords {
  readonly pair: { readonly at: number; readonly pair: CryptoKeyPair };
  readonly logout: PendingLogout;
  readonly device: { readonly at: number; readonly token: string };
  /** The key that seals what somebody has on this device; of `@fieldgate/entity-data`. */
  readonly vault: VaultRecord;
  readonly "sign-in": PendingSignIn;
}

/** An AES-GCM key, and whose data it opens. */
export interface VaultRecord {
  readonly at: number;
  readonly owner: string;
  readonly key: CryptoKey;
}
export type RecordKind = keyof KeyRecords;

export const recordKinds: readonly RecordKind[] = ["pair", "logout", "device", "vault", "sign-in"];

/**
 * The client's own database per tenant, beside the sessions: the key pairs they are bound to, logouts still to be told, the
 * tokens that name this device, and the keys of what is kept on it. Records are independent of each other, so no implementation needs a lock.
 */
export interface KeyDatabase {
  /** Whether a private key has to be readable to be kept. */
  readonly extractable: boolean;
  get<K extends RecordKind>(kind: K, id: string): Promise<KeyRecords[K] | undefined>;
  /** Resolves when the record is durable. */
  put<K extends RecordKind>(kind: K, id: string, record: KeyRecords[K]): Promise<void>;
  remove(kind: RecordKind, id: string): Promise<void>;
  list<K extends RecordKind>(kind: K): Promise<[id: string, record: KeyRecords[K]][]>;
  close(): Promise<void>;
}

/** Adds a record and drops the oldest beyond 32: a device that is never logged out must not fill up. */
export async function putBounded<K extends "pair" | "device">(
  keys: KeyDatabase,
  kind: K,
  id: string,
  record: KeyRecords[K],
): Promise<void> {
  await keys.put(kind, id, record);
  const all = await keys.list(kind);
  all.sort(([, a], [, b]) => b.at - a.at);
  for (const [old] of all.slice(32)) if (old !== id) await keys.remove(kind, old);
}
