import { toBytes } from "../encoding.ts";
import { ConfigurationError } from "../errors.ts";
import { openKeyDatabase } from "../keys/indexed-db.ts";
import { DeferredStorage, type InnerStorage, openMemory } from "./deferred.ts";
import { type Database, openDatabase, result } from "./open-database.ts";
import type { StoredSession } from "./storage.ts";

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
export class IndexedDbAuthStorageAdapter extends DeferredStorage {
  warning: string | null = null;
  evicted = false;

  constructor(tenantId: string) {
    if (!tenantId) throw new ConfigurationError("tenantId", "is missing");
    super(tenantId, () => this.#open());
  }

  async #open(): Promise<InnerStorage> {
    const { tenantId } = this;
    const onLost = () => {
      this.evicted = true;
    };
    try {
      if (!globalThis.crypto?.subtle) throw new Error("this page is not a secure context");
      return await openSealed(tenantId, onLost);
    } catch (cause) {
      this.warning = `Sessions end with this page: ${(cause as Error).message || cause}.`;
      return openMemory(tenantId);
    }
  }
}

async function openKey({ run }: Database, onMade: () => void): Promise<CryptoKey> {
  const find = (store: IDBObjectStore) => result<CryptoKey | undefined>(store.get("sessions"));
  const stored = await run("keys", "readonly", find);
  if (stored) return stored;
  onMade();
  const fresh = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
  return run("keys", "readwrite", async (store) => {
    // Another tab may have been faster: the first key stays.
    const first = await find(store);
    if (!first) await result(store.put(fresh, "sessions"));
    return first ?? fresh;
  });
}

async function openSealed(tenantId: string, onLost: () => void): Promise<InnerStorage> {
  const name = `fieldgate:${tenantId}`;
  const database = openDatabase(name, 1, ["sessions", "keys"]);
  const { run } = database;
  const keys = openKeyDatabase(tenantId);
  // Read each time: when the browser throws the database away under an open page, the key of the new one counts.
  const key = () =>
    openKey(database, () => {
      // A new database where somebody was signed in: the old one was thrown away.
      if (mark(name)) onLost();
    });
  await key();
  const cipher = (provider: string, { version, iv }: Pick<Sealed, "version" | "iv">) => ({
    name: "AES-GCM",
    iv,
    // A sealed session opens only in its own place.
    additionalData: toBytes(`${provider} ${version}`),
  });

  async function write(provider: string, session: StoredSession, expectedVersion?: number): Promise<boolean> {
    const { version } = session;
    const iv = crypto.getRandomValues(new Uint8Array(12));
    const plain = toBytes(JSON.stringify(session));
    const data = await crypto.subtle.encrypt(cipher(provider, { version, iv }), await key(), plain);
    return run("sessions", "readwrite", async (store) => {
      const stored: Sealed | undefined = await result(store.get(provider));
      const fits = expectedVersion === undefined || stored?.version === expectedVersion;
      if (fits) await result(store.put({ version, iv, data }, provider));
      return fits;
    });
  }

  return {
    async get(provider) {
      const sealed: Sealed | undefined = await run("sessions", "readonly", (store) => result(store.get(provider)));
      if (!sealed) return null;
      try {
        const plain = await crypto.subtle.decrypt(cipher(provider, sealed), await key(), sealed.data);
        return JSON.parse(new TextDecoder().decode(plain));
      } catch {
        // Sealed with a key that is gone: for the person it is as if the browser had thrown it away.
        onLost();
        return null;
      }
    },
    async put(provider, session) {
      await write(provider, session);
      mark(name, true);
      // Not awaited: some browsers ask the person first.
      globalThis.navigator?.storage?.persist?.().catch(() => 0);
    },
    replace: (provider, expectedVersion, next) => write(provider, next, expectedVersion),
    async remove(provider) {
      const left = await run("sessions", "readwrite", async (store) => {
        await result(provider === undefined ? store.clear() : store.delete(provider));
        return result(store.count());
      });
      if (!left) mark(name, false);
    },
    async providers() {
      await key();
      return run("sessions", "readonly", (store) => result(store.getAllKeys())) as Promise<string[]>;
    },
    close: async () => database.close(),
    keys: () => keys,
  };
}

/** Sets, clears or reads a note outside the database that says "somebody is signed in here". Workers have no place for it. */
function mark(name: string, on?: boolean): boolean {
  try {
    if (on) localStorage[name] = 1;
    else if (on === false) delete localStorage[name];
    return name in localStorage;
  } catch {
    return false;
  }
}
