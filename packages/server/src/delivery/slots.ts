/** A number of places that are taken and given back; who comes too late waits in line. */
export interface Slots {
  /** Resolves with the function that gives the place back. */
  take(signal: AbortSignal): Promise<() => void>;
}

export function createSlots(count: number): Slots {
  let free = count;
  const line: (() => void)[] = [];

  function giveBack(): () => void {
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const next = line.shift();
      if (next) next();
      else free += 1;
    };
  }

  return {
    async take(signal) {
      signal.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return giveBack();
      }
      await new Promise<void>((resolve, reject) => {
        const abort = () => {
          line.splice(line.indexOf(enter), 1);
          reject(signal.reason as Error);
        };
        const enter = () => {
          signal.removeEventListener("abort", abort);
          resolve();
        };
        signal.addEventListener("abort", abort, { once: true });
        line.push(enter);
      });
      return giveBack();
    },
  };
}
