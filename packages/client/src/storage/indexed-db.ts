import { openKeyDatabase } from "../keys/indexed-db.ts";
import type { KeyDatabase } from "../keys/key-database.ts";
import { MemoryAuthStorageAdapter } from "./memory.ts";
import { type Database, openDatabase, result } from "./open-database.ts";
import { checkTenantId, type StoredSession } from "./storage.ts";

/** A session at rest. The version lies open beside it: WebCrypto cannot be awaited inside a transaction. */
interface Sealed {
  readonly version: number;
  readonly iv: Uint8Array<ArrayBuffer>;
  readonly data: ArrayBuffer;
}

/**
 * Keeps sessions in the browser: a database per tenant, each session sealed with AES-GCM by a key that cannot be read out.
 *
 * - A write resolves when the disk has it.
 * - Where the browser gives no database, no encryption or no room for a key (an http page, some private windows), sessions live
 *   in memory and `warning` says why: nothing is ever written in the clear.
 * - `evicted` tells a session that the browser threw away from one that somebody logged out of.
 *
 * @example
 * const auth = new AuthManager(configs, "https://auth.example.org", new IndexedDbAuthStorageAdapter("kenya"));
 */
export class IndexedDbAuthStorageAdapter extends MemoryAuthStorageAdapter {
  warning: string | null = null;
  evicted = false;
  readonly #database: Database;
  readonly #marker: string;
  #key: CryptoKey | null = null;
  #starting: Promise<void> | undefined;
  #keys: KeyDatabase | undefined;

  constructor(tenantId: string) {
    super(checkTenantId(tenantId));
    this.#marker = `fieldgate:${tenantId}`;
    this.#database = openDatabase(this.#marker, 1, ["sessions", "keys"]);
  }

  override initialize(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  override async get(provider: string): Promise<StoredSession | null> {
    const key = await this.#ready();
    if (!key) return super.get(provider);
    const sealed = await this.#sessions("readonly", (store) => result<Sealed | undefined>(store.get(provider)));
    if (!sealed) return null;
    try {
      const plain = await crypto.subtle.decrypt(this.#cipher(provider, sealed), key, sealed.data);
      return JSON.parse(new TextDecoder().decode(plain));
    } catch {
      // Sealed with a key that is gone: for the person it is as if the browser had thrown it away.
      this.evicted = true;
      return null;
    }
  }

  override async put(provider: string, session: StoredSession): Promise<void> {
    if (!(await this.#write(provider, session))) return super.put(provider, session);
    mark(this.#marker, true);
    // Not awaited: some browsers ask the person first.
    globalThis.navigator?.storage?.persist?.().catch(() => undefined);
  }

  override async replace(provider: string, expectedVersion: number, next: StoredSession): Promise<boolean> {
    return (await this.#write(provider, next, expectedVersion)) ?? super.replace(provider, expectedVersion, next);
  }

  override async remove(provider?: string): Promise<void> {
    if (!(await this.#ready())) return super.remove(provider);
    const left = await this.#sessions("readwrite", async (store) => {
      await result(provider === undefined ? store.clear() : store.delete(provider));
      return result(store.count());
    });
    if (!left) mark(this.#marker, false);
  }

  override async providers(): Promise<string[]> {
    if (!(await this.#ready())) return super.providers();
    return this.#sessions("readonly", (store) => result(store.getAllKeys())) as Promise<string[]>;
  }

  override async close(): Promise<void> {
    this.#database.close();
  }

  override keys(): KeyDatabase {
    if (this.warning) return super.keys();
    this.#keys ??= openKeyDatabase(this.tenantId);
    return this.#keys;
  }

  async #ready(): Promise<CryptoKey | null> {
    await this.initialize();
    return this.#key;
  }

  async #start(): Promise<void> {
    try {
      if (!globalThis.crypto?.subtle) {
        throw new Error("this page is not a secure context; serve it over https, or from localhost");
      }
      const stored = await this.#database.run("keys", "readonly", (store) => result<CryptoKey>(store.get("sessions")));
      this.#key = stored ?? (await this.#makeKey());
    } catch (cause) {
      this.warning = `Sessions will not outlive this page: ${(cause as Error).message || cause}.`;
    }
  }

  async #makeKey(): Promise<CryptoKey> {
    this.evicted = mark(this.#marker);
    const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
    return this.#database.run("keys", "readwrite", async (store) => {
      // Another tab may have been faster: the first key stays.
      const first = await result<CryptoKey | undefined>(store.get("sessions"));
      if (!first) await result(store.put(key, "sessions"));
      return first ?? key;
    });
  }

  #sessions<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => Promise<T>): Promise<T> {
    return this.#database.run("sessions", mode, work);
  }

  /** Whether the session was stored; undefined where there is no database. */
  async #write(provider: string, session: StoredSession, expectedVersion?: number): Promise<boolean | undefined> {
    const key = await this.#ready();
    if (!key) return undefined;
    const { version } = session;
    const iv = crypto.getRandomValues(new Uint8Array(12));
    const plain = new TextEncoder().encode(JSON.stringify(session));
    const data = await crypto.subtle.encrypt(this.#cipher(provider, { version, iv }), key, plain);
    return this.#sessions("readwrite", async (store) => {
      const fits =
        expectedVersion === undefined || (await result<Sealed>(store.get(provider)))?.version === expectedVersion;
      if (fits) await result(store.put({ version, iv, data }, provider));
      return fits;
    });
  }

  #cipher(provider: string, { version, iv }: Pick<Sealed, "version" | "iv">): AesGcmParams {
    // A sealed session opens only in its own place.
    return { name: "AES-GCM", iv, additionalData: new TextEncoder().encode(`${provider} ${version}`) };
  }
}

/** Sets, clears or reads a note outside the database that says "somebody is signed in here". Workers have no place for it. */
function mark(name: string, on?: boolean): boolean {
  try {
    if (on) localStorage.setItem(name, "1");
    else if (on === false) localStorage.removeItem(name);
    return localStorage.getItem(name) !== null;
  } catch {
    return false;
  }
}
