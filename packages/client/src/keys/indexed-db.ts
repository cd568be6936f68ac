import { openDatabase } from "../storage/open-database.ts";
import { type KeyDatabase, recordKinds } from "./key-database.ts";

/** The browser's key database of a tenant: private keys can be used and never read out. */
export function openKeyDatabase(tenantId: string): KeyDatabase {
  const database = openDatabase(`fieldgate-keys:${tenantId}`, 1, recordKinds);
  return {
    extractable: false,
    get: (kind, id) => database.use((db) => db.get(kind, id)),
    put: (kind, id, record) => database.write(kind, (store) => store.put(record, id)) as Promise<never>,
    remove: (kind, id) => database.write(kind, (store) => store.delete(id)),
    list: (kind) =>
      database.use(async (db) => {
        const { store } = db.transaction(kind);
        const [ids, records] = await Promise.all([store.getAllKeys(), store.getAll()]);
        return ids.map((id, index) => [id as string, records[index]]);
      }),
    close: () => database.close(),
  };
}
