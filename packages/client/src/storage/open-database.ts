/*
 * IndexedDB with promises. `idb` does this for every corner of the API; the three operations needed here cost a tenth of its
 * weight, which would be an eighth of the library's.
 */

/** A database that is opened when needed and reopened when the browser or another tab took the connection away. */
export interface Database {
  /**
   * Runs work on one store in one transaction, and resolves with its result when the disk has it. The work may await its requests
   * and nothing else: a transaction ends when it has nothing to do.
   */
  run<T>(store: string, mode: IDBTransactionMode, work: (store: IDBObjectStore) => Promise<T>): Promise<T>;
  close(): void;
}

export function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** The stores only ever grow: a higher version adds the ones that are missing. */
export function openDatabase(name: string, version: number, stores: readonly string[]): Database {
  let connection: Promise<IDBDatabase> | undefined;

  async function connect(at?: number): Promise<IDBDatabase> {
    const request = indexedDB.open(name, at);
    request.onupgradeneeded = () => {
      const db = request.result;
      for (const store of stores) if (!db.objectStoreNames.contains(store)) db.createObjectStore(store);
    };
    const db = await result(request);
    const forget = () => {
      connection = undefined;
    };
    db.onclose = forget;
    // A newer version of the app in another tab must not wait for this one: let go, and reopen at the next use.
    db.onversionchange = () => {
      forget();
      db.close();
    };
    return db;
  }

  function open(): Promise<IDBDatabase> {
    connection ??= connect(version)
      // A newer version of the app has upgraded the database: our stores are still in it.
      .catch((error) => (error.name === "VersionError" ? connect() : Promise.reject(error)))
      .catch((error) => {
        connection = undefined;
        throw error;
      });
    return connection;
  }

  async function begin(store: string, mode: IDBTransactionMode): Promise<IDBTransaction> {
    const options = { durability: "strict" } as const;
    const db = await open();
    try {
      return db.transaction(store, mode, options);
    } catch {
      // The connection was closed between our look at it and its use.
      connection = undefined;
      return (await open()).transaction(store, mode, options);
    }
  }

  return {
    async run(store, mode, work) {
      const transaction = await begin(store, mode);
      const done = new Promise<void>((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error);
      });
      const [value] = await Promise.all([work(transaction.objectStore(store)), done]);
      return value;
    },
    close() {
      connection?.then((db) => db.close());
      connection = undefined;
    },
  };
}
