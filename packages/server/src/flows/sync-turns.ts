import { Fault } from "../fault.ts";
import { createWorkGate } from "../people/work-gate.ts";

/** Lets few batches be at work at a time, so that no session, and no tenant, takes the whole node for itself. */
export interface SyncTurns {
  run<T>(caller: { readonly tenantId: string; readonly sessionId: string }, task: () => Promise<T>): Promise<T>;
}

export interface SyncTurnsOptions {
  /** Batches at work at once. */
  readonly parallel: number;
  /** Batches that wait for one of these places, tenants in turn. */
  readonly queue: number;
  /** Batches of one session that wait for the one at work. */
  readonly perSession: number;
}

export function createSyncTurns({ parallel, queue, perSession }: SyncTurnsOptions): SyncTurns {
  const gate = createWorkGate({ parallel, queue });
  /** How many of a session's batches are here, and the end of the last. */
  const sessions = new Map<string, { count: number; last: Promise<unknown> }>();

  return {
    run({ tenantId, sessionId }, task) {
      const session = sessions.get(sessionId) ?? { count: 0, last: Promise.resolve() };
      if (session.count > perSession)
        throw new Fault("rate_limited", { retryAfter: 1, detail: "batches of one session" });
      sessions.set(sessionId, session);
      session.count += 1;
      const turn = session.last.then(() => gate.run([tenantId], task));
      const ended = () => {
        session.count -= 1;
        if (session.count === 0) sessions.delete(sessionId);
      };
      session.last = turn.then(ended, ended);
      return turn;
    },
  };
}

/** Gives others a turn after each few of a long list. */
export async function inSlices<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Result,
  size = 25,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % size === 0) await new Promise((resolve) => setImmediate(resolve));
    results.push(work(item));
  }
  return results;
}
