import { Fault } from "../fault.ts";

export interface WorkGateOptions {
  /** How many tasks run at once. */
  readonly parallel: number;
  /** How many may wait; beyond that the answer is `busy`. */
  readonly queue: number;
}

/** Where a task waits, the widest part first. Lanes that begin alike have equally many parts. */
export type Lane = readonly string[];

export interface WorkGate {
  /** Runs a task when it is its turn; rejects with `busy` where there is no place for it. */
  run<T>(lane: Lane, task: () => Promise<T>): Promise<T>;
  /** Throws `busy` where `run` would now refuse, so that nothing else is begun in vain. */
  demandRoom(lane: Lane): void;
}

interface Waiter {
  readonly go: () => void;
  readonly refuse: (fault: Fault) => void;
}

/** Those who wait in lanes that begin alike. Below the whole there is never an empty branch. */
interface Branch {
  size: number;
  /** By the next part of the lane; the first has the next turn. */
  readonly branches: Map<string, Branch>;
  /** Where the lane ends. */
  readonly waiters: Waiter[];
}

const newBranch = (): Branch => ({ size: 0, branches: new Map(), waiters: [] });
const busy = () => new Fault("busy", { detail: "password queue is full", retryAfter: 1 });

/**
 * Lets `parallel` tasks run and `queue` wait. At every part of the lane the branches take turns, and when no place is
 * left the longest branch gives one up, and within it again the longest: whoever floods a lane delays that lane alone.
 */
export function createWorkGate({ parallel, queue }: WorkGateOptions): WorkGate {
  const all = newBranch();
  let running = 0;

  function demandRoom(lane: Lane): void {
    if (running >= parallel && all.size >= queue && !hasLonger(all, lane)) throw busy();
  }

  function wait(lane: Lane): Promise<void> {
    demandRoom(lane);
    if (all.size >= queue) takeNewest(all, lane)?.refuse(busy());
    return new Promise((go, refuse) => add(all, lane, { go, refuse }));
  }

  /** The place passes straight to the next in turn, so nobody can slip in between. */
  function pass(): void {
    if (all.size > 0) takeNext(all)?.go();
    else running -= 1;
  }

  async function run<T>(lane: Lane, task: () => Promise<T>): Promise<T> {
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

function add(branch: Branch, [part, ...rest]: Lane, waiter: Waiter): void {
  branch.size += 1;
  if (part === undefined) {
    branch.waiters.push(waiter);
    return;
  }
  const next = branch.branches.get(part) ?? newBranch();
  branch.branches.set(part, next);
  add(next, rest, waiter);
}

/** Takes out who is next; every branch on the way has had its turn. */
function takeNext(branch: Branch): Waiter | undefined {
  branch.size -= 1;
  const [first] = branch.branches;
  if (!first) return branch.waiters.shift();
  const [part, next] = first;
  branch.branches.delete(part);
  if (next.size > 1) branch.branches.set(part, next);
  return takeNext(next);
}

/** The branch that gives way to a newcomer: their own, where with them it is as long as any. */
function givingWay({ branches }: Branch, [part]: Lane): { part: string; isOwn: boolean } {
  const [longest, { size }] = [...branches].reduce((a, b) => (b[1].size > a[1].size ? b : a), ["", newBranch()]);
  const isOwn = part !== undefined && (branches.get(part)?.size ?? 0) + 1 >= size;
  return { part: isOwn ? part : longest, isOwn };
}

/** Whether some lane is longer than a newcomer would make its own. */
function hasLonger(branch: Branch, lane: Lane): boolean {
  const { part, isOwn } = givingWay(branch, lane);
  const next = branch.branches.get(part);
  return next !== undefined && (!isOwn || hasLonger(next, lane.slice(1)));
}

/** Takes out the newest of that longer lane. */
function takeNewest(branch: Branch, newcomer: Lane): Waiter | undefined {
  branch.size -= 1;
  const { part, isOwn } = givingWay(branch, newcomer);
  const next = branch.branches.get(part);
  if (!next) return branch.waiters.pop();
  if (next.size === 1) branch.branches.delete(part);
  return takeNewest(next, isOwn ? newcomer.slice(1) : []);
}
