import { type IDBPDatabase, type IDBPObjectStore, openDB } from "idb";

export type WritableStore = IDBPObjectStore<unknown, string[], string, "readwrite">;

/** A database that is opened when needed and reopened when the browser or another tab took the connection away. */
export interface Database {
  /** Runs work on an open connection. */
  use<T>(work: (db: IDBPDatabase) => Promise<T>): Promise<T>;
  /** Runs work in one transaction on one store, and resolves when the disk has it. */
  write<T>(store: string, work: (store: WritableStore) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The stores only ever grow: a higher version adds the ones that are missing. */
export function openDatabase(name: string, version: number, stores: readonly string[]): Database {
  let connection: Promise<IDBPDatabase> | undefined;

  const open = () => {
    const forget = () => {
      if (connection === opening) connection = undefined;
    };
    const callbacks = {
      upgrade(db: IDBPDatabase) {
        for (const store of stores) if (!db.objectStoreNames.contains(store)) db.createObjectStore(store);
      },
      // A newer version of the app in another tab must not wait for this one: let go, and reopen at the next use.
      blocking() {
        forget();
        opening.then((db) => db.close());
      },
      terminated: forget,
    };
    const opening: Promise<IDBPDatabase> = openDB(name, version, callbacks).catch((error) => {
      // A newer version of the app has upgraded the database: our stores are still in it.
      if (error.name === "VersionError") return openDB(name, undefined, callbacks);
      throw error;
    });
    opening.catch(forget);
    connection = opening;
    return opening;
  };

  const use = async <T>(work: (db: IDBPDatabase) => Promise<T>): Promise<T> => {
    const db = await (connection ?? open());
    try {
      return await work(db);
    } catch (error) {
      // The connection closed between our look at it and its use.
      if ((error as Error).name !== "InvalidStateError") throw error;
      connection = undefined;
      return work(await open());
    }
  };

  return {
    use,
    write: (name, work) =>
      use(async (db) => {
        const { store, done } = db.transaction(name, "readwrite", { durability: "strict" });
        const [result] = await Promise.all([work(store as unknown as WritableStore), done]);
        return result;
      }),
    async close() {
      const closing = connection;
      connection = undefined;
      (await closing?.catch(() => undefined))?.close();
    },
  };
}
