import { type KeyDatabase, type KeyRecords, type RecordKind, recordKinds } from "./key-database.ts";

/** Keys that end with the page or the process. */
export function createMemoryKeys(): KeyDatabase {
  const kinds = Object.fromEntries(recordKinds.map((kind) => [kind, new Map()])) as {
    [K in RecordKind]: Map<string, KeyRecords[K]>;
  };
  return {
    extractable: false,
    get: async (kind, id) => kinds[kind].get(id),
    put: async (kind, id, record) => void kinds[kind].set(id, record),
    remove: async (kind, id) => void kinds[kind].delete(id),
    list: async (kind) => [...kinds[kind]],
    close: async () => {},
  };
}
