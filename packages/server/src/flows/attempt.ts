import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "../fault.ts";
import type { Services } from "../services.ts";
import { type Budget, releaseAttempt, reserveAttempt } from "../store/budgets.ts";

/** How long an attempt waits for others under way before it gives up: a busy machine is no reason to refuse a burst. */
const patienceMs = 10_000;
/** How many attempts may wait at once on a node: enough for an honest burst, too few to be worth an attack. */
const mostWaiting = 64;

let waiting = 0;

/**
 * Reserves an attempt, or refuses with `too_many_attempts`. An honest burst passes: where only attempts under way, not
 * failures, fill the budget, this waits for them to settle.
 */
export async function takeAttempt({ store, clock }: Services, budgets: readonly Budget[]): Promise<void> {
  const givesUpAt = clock.monotonic() + patienceMs;
  for (let round = 0; ; round += 1) {
    const reservation = await reserveAttempt(store, budgets);
    if (reservation.granted) return;
    const { settling, retryAfter } = reservation;
    if (!settling || waiting >= mostWaiting || clock.monotonic() > givesUpAt) {
      throw new Fault("too_many_attempts", { retryAfter });
    }
    waiting += 1;
    await sleep(20 + Math.random() * 60 * Math.min(round + 1, 3));
    waiting -= 1;
  }
}

/** An attempt that came to no verdict does not count. If even giving it back fails, it stops counting by itself soon. */
export async function releasedOnError<T>(
  { store }: Services,
  budgets: readonly Budget[],
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await releaseAttempt(store, budgets).catch(() => undefined);
    throw error;
  }
}
