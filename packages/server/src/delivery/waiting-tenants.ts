/** Tenants whose channel has no room: for a moment their messages are left where they are, and others go first. */
export interface WaitingTenants {
  add(tenantId: string, channel: string): void;
  list(): string[];
  /** A lane of the channel has come free. */
  freed(channel: string): void;
}

const waitMs = 1000;
/** They become parameters of a query. */
const mostListed = 200;

export function createWaitingTenants(monotonic: () => number): WaitingTenants {
  const waiting = new Map<string, { readonly channel: string; readonly until: number }>();
  return {
    add: (tenantId, channel) => void waiting.set(tenantId, { channel, until: monotonic() + waitMs }),
    list() {
      for (const [tenantId, { until }] of waiting) if (until <= monotonic()) waiting.delete(tenantId);
      return [...waiting.keys()].slice(-mostListed);
    },
    freed(channel) {
      for (const [tenantId, entry] of waiting) if (entry.channel === channel) waiting.delete(tenantId);
    },
  };
}
