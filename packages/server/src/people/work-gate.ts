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

export interface WorkGate {
  /** Runs a task when it is its turn; rejects with `busy` where there is no place for it. */
  run<T>(lane: string, task: () => Promise<T>): Promise<T>;
  /** Throws `busy` where `run` would now refuse, so that nothing else is begun in vain. */
  demandRoom(lane: string): void;
}

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

  function longest(): [lane: string, waiters: Waiter[]] {
    return [...lanes].reduce((a, b) => (b[1].length > a[1].length ? b : a), ["", [] as Waiter[]]);
  }

  /** With no place left the newcomer is refused where its own lane would become the longest. */
  function demandRoom(lane: string): void {
    if (running < parallel || waiting < queue) return;
    if ((lanes.get(lane)?.length ?? 0) + 1 >= longest()[1].length) throw busy();
  }

  function wait(lane: string): Promise<void> {
    demandRoom(lane);
    if (waiting >= queue) dropNewest();
    waiting += 1;
    return new Promise((go, refuse) => {
      const waiters = lanes.get(lane) ?? [];
      lanes.set(lane, waiters);
      waiters.push({ go, refuse });
    });
  }

  /** Refuses the newest of the longest lane. */
  function dropNewest(): void {
    const [lane, waiters] = longest();
    waiting -= 1;
    waiters.pop()?.refuse(busy());
    if (waiters.length === 0) lanes.delete(lane);
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

  async function run<T>(lane: string, task: () => Promise<T>): Promise<T> {
    if (running >= parallel) await wait(lane);
    else running += 1;
    try {
      return await task();
    } finally {
      pass();
    }
  }

  return { run, demandRoom };
}
