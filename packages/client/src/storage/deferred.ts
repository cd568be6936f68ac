import type { KeyDatabase } from "../keys/key-database.ts";
import { once } from "../once.ts";
import type { AuthStorageAdapter, StorageExtras, StoredSession } from "./storage.ts";

/** What does the work behind a deferred storage. */
export type InnerStorage = Omit<AuthStorageAdapter, "tenantId" | "initialize"> & { keys(): KeyDatabase };

/** A storage that is opened, and its code loaded, when it is first needed. */
export class DeferredStorage implements AuthStorageAdapter, StorageExtras {
  readonly tenantId: string;
  readonly #inner: () => Promise<InnerStorage>;
  #opened: InnerStorage | undefined;

  constructor(tenantId: string, open: () => Promise<InnerStorage>) {
    this.tenantId = tenantId;
    this.#inner = once(async () => {
      this.#opened = await open();
      return this.#opened;
    });
  }

  async initialize(): Promise<void> {
    await this.#inner();
  }

  async get(provider: string): Promise<StoredSession | null> {
    return (await this.#inner()).get(provider);
  }

  async put(provider: string, session: StoredSession): Promise<void> {
    return (await this.#inner()).put(provider, session);
  }

  async replace(provider: string, expectedVersion: number, next: StoredSession): Promise<boolean> {
    return (await this.#inner()).replace(provider, expectedVersion, next);
  }

  async remove(provider?: string): Promise<void> {
    return (await this.#inner()).remove(provider);
  }

  async providers(): Promise<string[]> {
    return (await this.#inner()).providers();
  }

  async close(): Promise<void> {
    await this.#opened?.close();
  }

  keys(): KeyDatabase | undefined {
    return this.#opened?.keys();
  }
}

/** Keeps sessions in memory: they end with the page or the process. */
export async function openMemory(tenantId: string): Promise<InnerStorage> {
  return new (await import("./memory.ts")).MemoryAuthStorageAdapter(tenantId);
}
