import type { KeyDatabase, KeyRecords, RecordKind } from "./key-database.ts";

/** Keys that end with the page or the process. */
export class MemoryKeyDatabase implements KeyDatabase {
  readonly extractable = false;
  readonly #records = new Map<string, unknown>();

  async get<K extends RecordKind>(kind: K, id: string): Promise<KeyRecords[K] | undefined> {
    return this.#records.get(`${kind} ${id}`) as KeyRecords[K] | undefined;
  }

  async put<K extends RecordKind>(kind: K, id: string, record: KeyRecords[K]): Promise<void> {
    this.#records.set(`${kind} ${id}`, record);
  }

  async remove(kind: RecordKind, id: string): Promise<void> {
    this.#records.delete(`${kind} ${id}`);
  }

  async list<K extends RecordKind>(kind: K): Promise<[string, KeyRecords[K]][]> {
    const prefix = `${kind} `;
    return [...this.#records]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, record]) => [key.slice(prefix.length), record as KeyRecords[K]]);
  }

  async close(): Promise<void> {}
}
