import type { Engine } from "./engine.ts";

/** The other tabs, workers and managers of this tenant. */
export interface Tabs {
  /**
   * Runs work while no other tab does. The wait is bounded, because a frozen tab can hold a lock for hours: after it the work runs
   * all the same. So a lock only saves requests; what is right must be right without it.
   */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Tells the others that storage has changed. */
  tell(change: "session" | "logout"): void;
  close(): void;
}

export function joinTabs(engine: Engine): Tabs {
  const name = `fieldgate:${engine.storage.tenantId}`;
  const channel = globalThis.BroadcastChannel && new BroadcastChannel(name);
  if (channel) {
    channel.onmessage = ({ data }) => {
      const { sessions, state, attempt } = engine;
      if (data === "logout") sessions.logouts++;
      if (state.status !== "uninitialized") attempt("storage", sessions.reload());
    };
    // In Node, listening must not keep a program alive.
    (channel as { unref?: () => void }).unref?.();
  }
  return {
    async alone(work) {
      let hasBegun = false;
      const begin = () => {
        hasBegun = true;
        return work();
      };
      try {
        const signal = AbortSignal.timeout(engine.settings.lockWait);
        return await (globalThis.navigator?.locks?.request(name, { signal }, begin) ?? work());
      } catch (error) {
        if (hasBegun) throw error;
        return work();
      }
    },
    tell: (change) => channel?.postMessage(change),
    close: () => channel?.close(),
  };
}
