import type { ConformanceCase } from "@fieldgate/client/testing";

export const bytes = (...values: number[]): Uint8Array<ArrayBuffer> => new Uint8Array(values);

export const byId = <T extends { readonly id: string }>(list: readonly T[]): T[] =>
  [...list].sort((a, b) => (a.id < b.id ? -1 : 1));

interface Store {
  initialize(): Promise<void>;
  close(): Promise<void>;
}

/** What both suites need: stores of a tenant, opened for a case and closed after it. */
export function createBench<S extends Store>(create: (tenantId: string) => S | Promise<S>) {
  const opened = new Set<S>();
  async function open(tenantId: string): Promise<S> {
    const store = await create(tenantId);
    opened.add(store);
    await store.initialize();
    return store;
  }
  async function close(store: S): Promise<void> {
    opened.delete(store);
    await store.close();
  }
  const newTenant = () => `t-${Math.random().toString(36).slice(2, 12)}x`;
  function define(name: string, body: (store: S, tenantId: string) => Promise<void>, skip?: string): ConformanceCase {
    const run = async () => {
      const tenantId = newTenant();
      try {
        await body(await open(tenantId), tenantId);
      } finally {
        for (const store of opened) await close(store);
      }
    };
    return skip === undefined ? { name, run } : { name, run, skip };
  }
  return { open, close, newTenant, define };
}
