import { openDatabase, result } from "../storage/open-database.ts";
import { type KeyDatabase, recordKinds } from "./key-database.ts";

/** The browser's key database of a tenant: private keys can be used and never read out. */
export function openKeyDatabase(tenantId: string): KeyDatabase {
  const { run, close } = openDatabase(`fieldgate-keys:${tenantId}`, 3, recordKinds);
  return {
    extractable: false,
    get: (kind, id) => run(kind, "readonly", (store) => result(store.get(id))),
    put: (kind, id, record) => run(kind, "readwrite", (store) => result(store.put(record, id))) as Promise<never>,
    remove: (kind, id) => run(kind, "readwrite", (store) => result(store.delete(id))),
    list: (kind) =>
      run(kind, "readonly", async (store) => {
        const [ids, records] = await Promise.all([result(store.getAllKeys()), result(store.getAll())]);
        return ids.map((id, index) => [id as string, records[index]]);
      }),
    close: async () => close(),
  };
}
