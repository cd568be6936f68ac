/**
 * Runs work while no other tab does. The wait is bounded, because a frozen tab can hold a lock for hours: after it the work runs
 * all the same. So a lock only saves requests; what is right must be right without it.
 */
export async function runAlone<T>(name: string, wait: number, work: () => Promise<T>): Promise<T> {
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
    return work();
  };
  try {
    const signal = AbortSignal.timeout(wait);
    return await (globalThis.navigator?.locks?.request(name, { signal }, begin) ?? work());
  } catch (error) {
    if (hasBegun) throw error;
    return work();
  }
}
