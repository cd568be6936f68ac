/** What runs, or waits, under each name where the platform has no locks. */
const queues = new Map<string, Promise<unknown>>();

/**
 * Runs work while nobody else does under the same name: no other tab where the browser has Web Locks, nobody else in this one
 * where it has not. It only saves work; what is right must be right without it.
 */
export async function runAlone<T>(name: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const locks = globalThis.navigator?.locks;
  if (locks) return locks.request(name, signal ? { signal } : {}, work) as Promise<T>;
  const before = queues.get(name);
  const turn = (async () => {
    await before?.catch(() => 0);
    signal?.throwIfAborted();
    return work();
  })();
  queues.set(name, turn);
  try {
    return await turn;
  } finally {
    if (queues.get(name) === turn) queues.delete(name);
  }
}
