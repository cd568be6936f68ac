import { ChannelBusy, ChannelRefused } from "./channel.ts";

export interface Tried {
  /** Tries so far, this one included. */
  readonly attempts: number;
  /** Which of the channels it was: it grows with each move and wraps around. */
  readonly channelIndex: number;
  /** How many channels there are. */
  readonly channels: number;
  /** Milliseconds for which the code is still good. */
  readonly leftMs: number;
}

export type NextTry = { readonly delayMs: number; readonly channelIndex: number };

const triesPerChannel = 2;
const mostTries = 20;
const longestDelayMs = 60_000;
/** A code that arrives later than this is of no use to anyone. */
export const leastLifeMs = 10_000;

/** When and where a message is tried again after an error; null where it is given up. */
export function nextTry(error: unknown, { attempts, channelIndex, channels, leftMs }: Tried): NextTry | null {
  const refused = error instanceof ChannelRefused;
  if (leftMs <= leastLifeMs || attempts >= mostTries || (refused && channels === 1)) return null;
  const moves = channels > 1 && (refused || attempts % triesPerChannel === 0);
  const next = channelIndex + (moves ? 1 : 0);
  // A channel that was not tried yet is tried at once; after that there is nothing to do but to wait.
  if (moves && next < channels) return { delayMs: 0, channelIndex: next };
  const backOff = Math.min(1000 * 2 ** Math.min(attempts - 1, 10), longestDelayMs);
  const asked = error instanceof ChannelBusy ? Math.min(error.retryAfterMs, longestDelayMs) : 0;
  // Never so late that the code would be over: half of what is left, at most.
  return { delayMs: Math.min(Math.max(backOff, asked), Math.ceil(leftMs / 2)), channelIndex: next };
}
