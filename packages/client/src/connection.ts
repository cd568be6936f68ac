import type { AuthError } from "./errors.ts";

/** How well the server can be reached, and when to try again. */
export interface Connection {
  /** The failure that makes it too early to ask again: a moment ago, or the server said "later". */
  readonly silence: AuthError | undefined;
  /** Whether asking makes no sense now, as far as the device can tell. */
  readonly isPointless: boolean;
  /** Milliseconds until the next try in the background. */
  readonly pause: number;
  /** Takes note of an answer or a failure. Without a failure, the next try may come at once. */
  answered(error?: AuthError): void;
}

export function createConnection(): Connection {
  let failures = 0;
  let until = 0;
  let last: AuthError | undefined;
  return {
    get silence() {
      return performance.now() < until ? last : undefined;
    },
    get isPointless() {
      return !!this.silence || globalThis.navigator?.onLine === false;
    },
    get pause() {
      return 1000 * 2 ** Math.min(failures, 6);
    },
    answered(error) {
      last = error;
      failures = error ? failures + 1 : 0;
      // A refused connection costs nothing to try again; one that hangs would make every caller wait.
      const isHung = (error?.cause as Error | undefined)?.name === "TimeoutError";
      until = error ? performance.now() + 1000 * Math.min(error.retryAfter ?? (isHung ? 15 : 0.2), 300) : 0;
    },
  };
}
