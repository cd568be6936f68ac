import type { DatabaseSync } from "node:sqlite";
import type { Hints } from "../backend.ts";
import { StoreUnavailable } from "../store.ts";
import { translateError } from "./errors.ts";

/**
 * SQLite tells no topic, only whether another connection has committed anything; so each change is a hint for all.
 * Reading the number costs a few microseconds and no lock.
 */
export function watchDataVersion(db: DatabaseSync, everyMs = 300): Hints {
  const listeners = new Set<() => void>();
  const statement = db.prepare("pragma data_version");
  let version = read();
  let timer: NodeJS.Timeout | undefined;

  function read(): unknown {
    try {
      return statement.get()?.data_version;
    } catch (error) {
      // A hint may be lost: whoever asks the database next is told what is wrong with it.
      if (translateError(error) instanceof StoreUnavailable) return undefined;
      throw error;
    }
  }

  function look(): void {
    const current = read();
    if (current === undefined || current === version) return;
    version = current;
    for (const heard of [...listeners]) heard();
  }

  function stopWhenUnheard(): void {
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    on(_topic, heard) {
      const listener = () => heard();
      listeners.add(listener);
      if (timer === undefined) {
        version = read();
        timer = setInterval(look, everyMs).unref();
      }
      return () => {
        listeners.delete(listener);
        stopWhenUnheard();
      };
    },
    async close() {
      listeners.clear();
      stopWhenUnheard();
    },
  };
}
