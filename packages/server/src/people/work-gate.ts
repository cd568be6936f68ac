import { Fault } from "../fault.ts";

export interface WorkGateOptions {
  /** How many tasks run at once. */
  readonly parallel: number;
  /** How many may wait; beyond that the answer is `busy`. */
  readonly queue: number;
}

interface Waiter {
  readonly go: () => void;
  readonly refuse: (fault: Fault) => void;
}

/** Runs a task when it is its turn. */
export type WorkGate = <T>(lane: string, task: () => Promise<T>) => Promise<T>;

const busy = () => new Fault("busy", { detail: "password queue is full", retryAfter: 1 });

/**
 * Lets `parallel` tasks run and `queue` wait. The lanes take turns, and when no place is left the longest one gives one
 * up: whoever floods a lane delays that lane alone.
 */
export function createWorkGate({ parallel, queue }: WorkGateOptions): WorkGate {
  /** Never an empty lane; the first has the next turn. */
  const lanes = new Map<string, Waiter[]>();
  let running = 0;
  let waiting = 0;

  function wait(lane: string): Promise<void> {
    if (waiting >= queue) makeRoom(lane);
    waiting += 1;
    return new Promise((go, refuse) => {
      const waiters = lanes.get(lane) ?? [];
      lanes.set(lane, waiters);
      waiters.push({ go, refuse });
    });
  }

  /** Refuses the newest of the longest lane, or the newcomer where its own lane would become that. */
  function makeRoom(lane: string): void {
    const [longest, waiters] = [...lanes].reduce((a, b) => (b[1].length > a[1].length ? b : a), ["", [] as Waiter[]]);
    if ((lanes.get(lane)?.length ?? 0) + 1 >= waiters.length) throw busy();
    waiting -= 1;
    waiters.pop()?.refuse(busy());
    if (waiters.length === 0) lanes.delete(longest);
  }

  /** The place passes straight to the next in turn, so nobody can slip in between. */
  function pass(): void {
    const [next] = lanes;
    if (!next) {
      running -= 1;
      return;
    }
    const [lane, waiters] = next;
    const waiter = waiters.shift();
    lanes.delete(lane);
    if (waiters.length > 0) lanes.set(lane, waiters);
    waiting -= 1;
    waiter?.go();
  }

  return async (lane, task) => {
    if (running >= parallel) await wait(lane);
    else running += 1;
    try {
      return await task();
    } finally {
      pass();
    }
  };
}
