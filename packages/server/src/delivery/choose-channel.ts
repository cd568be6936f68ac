import type { Channel } from "./channel.ts";
import type { Lanes } from "./lanes.ts";

/** A channel with room for one message, until it is released. */
export interface Lane {
  readonly channel: Channel;
  /** Where it stands in the order: it grows with each move and wraps around. */
  readonly channelIndex: number;
  release(): void;
}

/** The channels of a medium, in the tenant's order where it has one. */
export function orderedChannels(channels: readonly Channel[], medium: string, order?: readonly string[]): Channel[] {
  const usable = channels.filter((channel) => channel.medium === medium);
  if (!order) return usable;
  return order.flatMap((name) => usable.filter((channel) => channel.name === name));
}

/**
 * The channel whose turn it is, or the next one where that is stuck. One that is only busy is waited for: the next may
 * be dearer. Null where the message has to wait.
 */
export function chooseChannel(lanes: Lanes, channels: readonly Channel[], channelIndex: number): Lane | null {
  for (let step = 0; step < channels.length; step += 1) {
    const channel = channels[(channelIndex + step) % channels.length];
    if (!channel) return null;
    const release = lanes.take(channel);
    if (release) return { channel, channelIndex: channelIndex + step, release };
    if (!lanes.isStuck(channel)) return null;
  }
  return null;
}
