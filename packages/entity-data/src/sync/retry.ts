import { EntityDataError } from "../errors.ts";

/** Durations are milliseconds. */
export interface RetryPolicy {
  /** How often a request is tried in all. */
  readonly tries: number;
  /** The longest wait before the second try; it doubles with each, and is spread, so that a thousand devices do not ask at once. */
  readonly firstDelay: number;
  readonly longestDelay: number;
}

interface UnansweredDetails {
  readonly retryAfter?: number;
  readonly status?: number;
  readonly isSlow?: boolean;
  readonly cause?: unknown;
}

/** Something that may go better next time. */
export class Unanswered extends Error {
  readonly retryAfter: number | undefined;
  readonly status: number | undefined;
  /** Whether time ran out: a smaller request may get through. */
  readonly isSlow: boolean;

  constructor(message: string, details: UnansweredDetails = {}) {
    super(message, { cause: details.cause });
    this.isSlow = details.isSlow ?? false;
    this.retryAfter = details.retryAfter;
    this.status = details.status;
  }
}

/** Tries work until it is answered. What is too slow is not tried again as it is where it can be divided. */
export async function retry<T>(
  policy: RetryPolicy,
  signal: AbortSignal,
  work: () => Promise<T>,
  isDivisible = false,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Unanswered) || (isDivisible && error.isSlow)) throw error;
      if (attempt >= policy.tries || globalThis.navigator?.onLine === false) {
        const status = error.status === undefined ? {} : { status: error.status };
        throw new EntityDataError("unreachable", `${error.message} Sync again later; nothing is lost.`, {
          cause: error,
          ...status,
        });
      }
      await pause(delayOf(policy, attempt, error.retryAfter), signal);
    }
  }
}

export function delayOf(policy: RetryPolicy, attempt: number, retryAfter = 0): number {
  const most = Math.min(policy.firstDelay * 2 ** (attempt - 1), policy.longestDelay);
  return Math.max(most * (0.5 + Math.random() / 2), Math.min(retryAfter * 1000, 60_000));
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", stop, { once: true });
  });
}
