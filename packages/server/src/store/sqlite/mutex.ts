import { StoreUnavailable } from "../store.ts";

interface Waiter {
  readonly go: () => void;
  readonly timer: NodeJS.Timeout;
}

/** Lets one caller at a time in, in the order in which they came. */
export class Mutex {
  #held = false;
  readonly #waiters: Waiter[] = [];

  /** Resolves when it is the caller's turn; rejects when that takes longer than `patience` milliseconds. */
  async take(patience: number): Promise<void> {
    if (!this.#held) {
      this.#held = true;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(new StoreUnavailable(`The database connection was not free for ${patience} ms.`));
      }, patience);
      const waiter: Waiter = { go: resolve, timer };
      this.#waiters.push(waiter);
    });
  }

  /** Hands the turn to the caller that has waited longest. */
  pass(): void {
    const next = this.#waiters.shift();
    if (next === undefined) {
      this.#held = false;
      return;
    }
    clearTimeout(next.timer);
    next.go();
  }
}
