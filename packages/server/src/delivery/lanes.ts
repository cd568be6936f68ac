import type { Channel } from "./channel.ts";
import type { Medium } from "./outbox.ts";

/** How many messages each channel carries at once: one that hangs fills its own lanes and nobody else's. */
export interface Lanes {
  /** How many messages of a medium this node can have in hand. */
  capacity(medium: Medium): number;
  /** Takes a lane; null while all are in use. The result gives it back. */
  take(channel: Channel): (() => void) | null;
  /** All lanes are in use, and for seconds nothing has come out of any. */
  isStuck(channel: Channel): boolean;
}

const defaultParallel = 8;
/** Messages in hand where a medium has no channel at all: they still have to be given up. */
const withoutChannels = 4;
export const stuckMs = 3000;

const lanesOf = (channel: Channel) => channel.parallel ?? defaultParallel;

export function createLanes(channels: readonly Channel[], monotonic: () => number): Lanes {
  const busy = new Map<Channel, Set<{ readonly since: number }>>(channels.map((channel) => [channel, new Set()]));
  return {
    capacity(medium) {
      const own = channels.filter((channel) => channel.medium === medium);
      return own.reduce((sum, channel) => sum + lanesOf(channel), 0) || withoutChannels;
    },
    take(channel) {
      const inUse = busy.get(channel);
      if (!inUse || inUse.size >= lanesOf(channel)) return null;
      const lane = { since: monotonic() };
      inUse.add(lane);
      return () => void inUse.delete(lane);
    },
    isStuck(channel) {
      const inUse = busy.get(channel);
      if (!inUse || inUse.size < lanesOf(channel)) return false;
      // A lane that comes free is filled at once, so an old newest one means that none came free.
      return [...inUse].every(({ since }) => monotonic() - since > stuckMs);
    },
  };
}
