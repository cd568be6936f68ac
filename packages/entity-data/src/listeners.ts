import type { SyncProgress } from "./sync/progress.ts";

/** What a manager tells. */
export type EntityDataEvent =
  | ({ readonly type: "progress" } & SyncProgress)
  /** These entities are other ones than before, in this tab. */
  | { readonly type: "changed"; readonly entityIds: readonly string[] }
  /** Somebody logged out, and left events here that the service does not have; null: how many is not known. */
  | { readonly type: "unsyncedKept"; readonly count: number | null }
  /** Something a developer should know. Nothing is lost by it, and it is tried again. */
  | { readonly type: "problem"; readonly cause: unknown };

export type EntityDataListener = (event: EntityDataEvent) => void;

export function createListeners() {
  const listeners = new Set<{ readonly listener: EntityDataListener }>();
  return {
    add(listener: EntityDataListener): () => void {
      const subscription = { listener };
      listeners.add(subscription);
      return () => void listeners.delete(subscription);
    },
    tell(event: EntityDataEvent): void {
      for (const { listener } of [...listeners]) {
        try {
          listener(event);
        } catch (error) {
          // A listener's mistake is its own: it shows as uncaught, and the work goes on.
          Promise.reject(error);
        }
      }
    },
  };
}
