/** Runs a check now and then: on an interval, on focus, on coming online; never while nobody looks. */
export interface Checks {
  stop(): void;
}

export interface ChecksParts {
  /** Milliseconds until the next check. It is spread, so that a thousand devices do not ask at once. */
  readonly delay: () => number;
  readonly check: () => Promise<unknown>;
  /** The network came back, or somebody looks again. */
  readonly onWake: () => void;
}

/** In Node, what is to come must not keep a program alive. */
function later(milliseconds: number, work: () => void): ReturnType<typeof setTimeout> {
  const timer = setTimeout(work, milliseconds);
  (timer as { unref?: () => void }).unref?.();
  return timer;
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => later(milliseconds, resolve));
}

export function startChecks({ delay, check, onWake }: ChecksParts): Checks {
  // Neither a worker nor Node has a page that could be hidden.
  const page = globalThis.document;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const signals = new AbortController();
  const { signal } = signals;

  function plan(): void {
    clearTimeout(timer);
    if (signal.aborted || page?.hidden) return;
    timer = later(delay() * (0.8 + Math.random() * 0.4), run);
  }
  function run(): void {
    check().finally(plan);
  }
  function wake(): void {
    clearTimeout(timer);
    if (page?.hidden) return;
    onWake();
    run();
  }

  page?.addEventListener("visibilitychange", wake, { signal });
  globalThis.addEventListener?.("focus", wake, { signal });
  globalThis.addEventListener?.("online", wake, { signal });
  plan();
  return {
    stop() {
      clearTimeout(timer);
      signals.abort();
    },
  };
}
