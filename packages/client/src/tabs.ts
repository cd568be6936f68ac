import type { Engine } from "./engine.ts";

/** The other tabs, workers and managers of this tenant. */
export interface Tabs {
  /** What they know each other by. */
  readonly name: string;
  /** Tells the others that storage has changed. */
  tell(change: "session" | "logout"): void;
  close(): void;
}

export function joinTabs(engine: Engine): Tabs {
  const name = `fieldgate:${engine.storage.tenantId}`;
  let channel = globalThis.BroadcastChannel ? new BroadcastChannel(name) : null;
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
    name,
    tell: (change) => channel?.postMessage(change),
    close() {
      channel?.close();
      // What is still under way has nobody to tell.
      channel = null;
    },
  };
}
