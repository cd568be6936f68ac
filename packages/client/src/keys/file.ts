import { createHash } from "node:crypto";
import { join } from "node:path";
import { defaultDirectory, PrivateDirectory } from "../storage/private-files.ts";
import type { KeyDatabase, KeyRecords, RecordKind } from "./key-database.ts";

const es256 = { name: "ECDSA", namedCurve: "P-256" };

interface StoredPair {
  readonly privateKey: JsonWebKey;
  readonly publicKey: JsonWebKey;
}

/** The key database of a program in Node: one file a record, readable by its owner alone (0600). */
export class FileKeyDatabase implements KeyDatabase {
  readonly extractable = true;
  readonly #files: PrivateDirectory;

  constructor(tenantId: string, directory: string = defaultDirectory()) {
    this.#files = new PrivateDirectory(join(directory, tenantId || "default", "keys"));
  }

  async get<K extends RecordKind>(kind: K, id: string): Promise<KeyRecords[K] | undefined> {
    return (await this.#read<K>(fileName(kind, id)))?.[1];
  }

  async put<K extends RecordKind>(kind: K, id: string, record: KeyRecords[K]): Promise<void> {
    let stored: unknown = record;
    if ("pair" in record) stored = { ...record, pair: await exportPair(record.pair) };
    if ("key" in record) stored = { ...record, key: await crypto.subtle.exportKey("jwk", record.key) };
    await this.#files.write(fileName(kind, id), JSON.stringify([id, stored]));
  }

  async remove(kind: RecordKind, id: string): Promise<void> {
    await this.#files.remove(fileName(kind, id));
  }

  async list<K extends RecordKind>(kind: K): Promise<[string, KeyRecords[K]][]> {
    const names = (await this.#files.list()).filter((name) => name.startsWith(`${kind}.`));
    const found = await Promise.all(names.map((name) => this.#read<K>(name)));
    return found.filter((entry) => entry !== null);
  }

  async close(): Promise<void> {}

  async #read<K extends RecordKind>(name: string): Promise<[string, KeyRecords[K]] | null> {
    const text = (await this.#files.read(name))?.toString();
    if (text === undefined) return null;
    const [id, stored] = JSON.parse(text) as [string, { pair?: StoredPair; key?: JsonWebKey }];
    let record: unknown = stored;
    if (stored.pair) record = { ...stored, pair: await importPair(stored.pair) };
    if (stored.key) record = { ...stored, key: await importVaultKey(stored.key) };
    return [id, record as KeyRecords[K]];
  }
}

/** The key database AuthManager opens in Node when the storage brings none. */
export function openKeyDatabase(tenantId: string): KeyDatabase {
  return new FileKeyDatabase(tenantId);
}

/** Ids may hold anything; file names may not. */
function fileName(kind: RecordKind, id: string): string {
  return `${kind}.${createHash("sha256").update(id).digest("hex")}.json`;
}

async function exportPair(pair: CryptoKeyPair): Promise<StoredPair> {
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.exportKey("jwk", pair.privateKey),
    crypto.subtle.exportKey("jwk", pair.publicKey),
  ]);
  return { privateKey, publicKey };
}

async function importPair({ privateKey, publicKey }: StoredPair): Promise<CryptoKeyPair> {
  const [secret, open] = await Promise.all([
    crypto.subtle.importKey("jwk", privateKey, es256, true, ["sign"]),
    crypto.subtle.importKey("jwk", publicKey, es256, true, ["verify"]),
  ]);
  return { privateKey: secret, publicKey: open };
}

function importVaultKey(key: JsonWebKey): Promise<CryptoKey> {
  return crypto.subtle.importKey("jwk", key, "AES-GCM", true, ["encrypt", "decrypt"]);
}
