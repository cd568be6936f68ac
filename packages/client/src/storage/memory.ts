import type { KeyDatabase } from "../keys/key-database.ts";
import { createMemoryKeys } from "../keys/memory.ts";
import type { AuthStorageAdapter, StorageExtras, StoredSession } from "./storage.ts";

/**
 * Keeps sessions in memory: they end with the page or the process.
 *
 * @param tenantId The tenant; empty means the service's default tenant.
 */
export class MemoryAuthStorageAdapter implements AuthStorageAdapter, StorageExtras {
  readonly tenantId: string;
  // As text: nobody can change what is stored by changing what they were given.
  readonly #sessions = new Map<string, string>();
  readonly #keys = createMemoryKeys();

  constructor(tenantId = "") {
    this.tenantId = tenantId;
  }

  async initialize(): Promise<void> {}

  async get(provider: string): Promise<StoredSession | null> {
    return JSON.parse(this.#sessions.get(provider) ?? "null");
  }

  async put(provider: string, session: StoredSession): Promise<void> {
    this.#sessions.set(provider, JSON.stringify(session));
  }

  async replace(provider: string, expectedVersion: number, next: StoredSession): Promise<boolean> {
    const stored: StoredSession | null = JSON.parse(this.#sessions.get(provider) ?? "null");
    if (stored?.version !== expectedVersion) return false;
    this.#sessions.set(provider, JSON.stringify(next));
    return true;
  }

  async remove(provider?: string): Promise<void> {
    if (provider === undefined) this.#sessions.clear();
    else this.#sessions.delete(provider);
  }

  async providers(): Promise<string[]> {
    return [...this.#sessions.keys()];
  }

  async close(): Promise<void> {}

  keys(): KeyDatabase {
    return this.#keys;
  }
}
