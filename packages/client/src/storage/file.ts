import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { ConfigurationError } from "../errors.ts";
import { FileKeyDatabase } from "../keys/file.ts";
import type { KeyDatabase } from "../keys/key-database.ts";
import { defaultDirectory, PrivateDirectory } from "./private-files.ts";
import type { AuthStorageAdapter, StorageExtras, StoredSession } from "./storage.ts";

/**
 * The stored session of a provider is an empty file whose *name* says all: `provider.version.id`. The sealed session lies in
 * `id.sealed`. To replace it is one rename from the old name to the new one: the file system itself compares and swaps, between
 * processes too, and no lock can be left behind by a process that died.
 */
interface Pointer {
  readonly name: string;
  readonly provider: string;
  readonly version: number;
  readonly id: string;
}

const sealedFile = (id: string) => `${id}.sealed`;

function toPointer(provider: string, version: number): Pointer {
  // The time in front orders two that were made at the same moment; the later one stays.
  const id = `${Date.now().toString(36).padStart(9, "0")}-${randomUUID()}`;
  return { name: `${Buffer.from(provider).toString("base64url")}.${version}.${id}`, provider, version, id };
}

function readPointer(name: string): Pointer | null {
  const [provider, version, id] = name.split(".");
  if (provider === undefined || version === undefined || id === undefined) return null;
  return { name, provider: Buffer.from(provider, "base64url").toString(), version: Number(version), id };
}

/**
 * Keeps sessions in files, for programs in Node: sealed with AES-256-GCM, readable by their owner alone (0600), each change whole
 * and flushed to the disk before it counts.
 *
 * @param directory Where to keep them; `~/.fieldgate` by default. Each tenant has its own directory in it.
 */
export class FileAuthStorageAdapter implements AuthStorageAdapter, StorageExtras {
  readonly tenantId: string;
  evicted = false;
  readonly #files: PrivateDirectory;
  readonly #keys: KeyDatabase;
  #secret: Promise<Buffer> | undefined;

  constructor(tenantId: string, directory: string = defaultDirectory()) {
    this.tenantId = checkTenantId(tenantId);
    this.#files = new PrivateDirectory(join(directory, tenantId, "sessions"));
    this.#keys = new FileKeyDatabase(tenantId, directory);
  }

  async initialize(): Promise<void> {
    await this.#files.create();
    await this.#key();
  }

  async get(provider: string): Promise<StoredSession | null> {
    // A session that is replaced between our two looks is looked up again.
    for (let look = 0; look < 10; look++) {
      const pointer = await this.#find(provider);
      if (!pointer) return null;
      const sealed = await this.#files.read(sealedFile(pointer.id));
      if (sealed) return this.#open(pointer, sealed);
    }
    return null;
  }

  async put(provider: string, session: StoredSession): Promise<void> {
    const next = toPointer(provider, session.version);
    await this.#files.write(sealedFile(next.id), await this.#seal(next, session));
    for (;;) {
      const stored = await this.#find(provider);
      if (!stored) {
        await this.#files.write(next.name, "");
        for (const other of await this.#pointers(provider)) if (other.id < next.id) await this.#drop(other);
        return;
      }
      if (await this.#files.move(stored.name, next.name)) return this.#files.remove(sealedFile(stored.id));
    }
  }

  async replace(provider: string, expectedVersion: number, session: StoredSession): Promise<boolean> {
    const stored = await this.#find(provider);
    if (stored?.version !== expectedVersion) return false;
    const next = toPointer(provider, session.version);
    await this.#files.write(sealedFile(next.id), await this.#seal(next, session));
    const replaced = await this.#files.move(stored.name, next.name);
    await this.#files.remove(sealedFile(replaced ? stored.id : next.id));
    return replaced;
  }

  async remove(provider?: string): Promise<void> {
    for (const pointer of await this.#pointers(provider)) await this.#drop(pointer);
    if (provider === undefined) {
      for (const name of await this.#files.list()) if (name.endsWith(".sealed")) await this.#files.remove(name);
    }
    await this.#files.flush();
  }

  async providers(): Promise<string[]> {
    return [...new Set((await this.#pointers()).map((pointer) => pointer.provider))];
  }

  async close(): Promise<void> {}

  keys(): KeyDatabase {
    return this.#keys;
  }

  async #pointers(provider?: string): Promise<Pointer[]> {
    const pointers = (await this.#files.list()).map(readPointer).filter((pointer) => pointer !== null);
    return provider === undefined ? pointers : pointers.filter((pointer) => pointer.provider === provider);
  }

  async #find(provider: string): Promise<Pointer | undefined> {
    return (await this.#pointers(provider)).sort((a, b) => (a.id < b.id ? 1 : -1))[0];
  }

  async #drop(pointer: Pointer): Promise<void> {
    await this.#files.remove(pointer.name);
    await this.#files.remove(sealedFile(pointer.id));
  }

  #key(): Promise<Buffer> {
    this.#secret ??= (async () => {
      await this.#files.writeOnce("key", randomBytes(32));
      const key = await this.#files.read("key");
      if (key?.length === 32) return key;
      throw new Error(
        `The key file of tenant ${this.tenantId} is damaged. Remove its "sessions" directory and sign in again.`,
      );
    })();
    return this.#secret;
  }

  async #seal(pointer: Pointer, session: StoredSession): Promise<Buffer> {
    const iv = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", await this.#key(), iv).setAAD(this.#place(pointer));
    const sealed = [cipher.update(JSON.stringify(session)), cipher.final()];
    return Buffer.concat([iv, cipher.getAuthTag(), ...sealed]);
  }

  async #open(pointer: Pointer, sealed: Buffer): Promise<StoredSession | null> {
    const key = await this.#key();
    try {
      const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, 12), { authTagLength: 16 });
      decipher.setAAD(this.#place(pointer)).setAuthTag(sealed.subarray(12, 28));
      return JSON.parse(Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString());
    } catch {
      // Sealed with another key, or damaged: nobody logged out, and nothing can be done but to sign in again.
      this.evicted = true;
      return null;
    }
  }

  /** A sealed session opens only in its own place. */
  #place({ provider, version }: Pointer): Buffer {
    return Buffer.from(`${this.tenantId} ${provider} ${version}`);
  }
}

/** Refuses a tenant id that the service could not have, and with it every path out of the directory. */
function checkTenantId(tenantId: string): string {
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(tenantId)) {
    throw new ConfigurationError("tenantId", `"${tenantId}" is not lower-case letters, digits and hyphens`);
  }
  return tenantId;
}
