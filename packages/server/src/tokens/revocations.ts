import type { Clock } from "../clock.ts";
import { longestAccessSeconds, type Policy } from "../config/policy.ts";
import { Fault } from "../fault.ts";
import { listRevocations, type Revocation, revocationsTopic } from "../store/sessions.ts";
import type { Store } from "../store/store.ts";

/** The sessions that were ended lately: what makes a signed, unexpired token worthless. */
export interface Revocations {
  has(sessionId: string): boolean;
  /** This node's view is young enough to answer from. */
  isFresh(): boolean;
  /** Resolves when it is; rejects with `unavailable` when the database does not answer. */
  makeFresh(): Promise<void>;
  /** Known here at once, without waiting for a poll. */
  add(sessionIds: readonly string[]): void;
  stop(): void;
}

export async function openRevocations(
  store: Store,
  clock: Clock,
  policy: Policy["revocation"],
  onError: (error: unknown) => void,
): Promise<Revocations> {
  /** Session → when it was ended. */
  const ended = new Map<string, number>();
  // Tokens of a session that was ended longer ago than this have expired by themselves.
  const keepMs = (longestAccessSeconds + policy.overlap) * 1000;
  /** The database's time at the last poll; its clock alone counts here, for this machine's may be wrong. */
  let polledAt: number | null = null;
  let lastGoodPoll = Number.NEGATIVE_INFINITY;
  let polling: Promise<void> | null = null;
  let stopped = false;

  async function poll(): Promise<void> {
    const startedAt = clock.monotonic();
    const { now } = await store.db.selectNoFrom(store.now.as("now")).executeTakeFirstOrThrow();
    // A transaction takes its time before it commits: looking back finds those that were slow. The earlier of the two
    // instants, because the database's clock may have been set back, as after a fail-over.
    const since = Math.min(polledAt ?? now - keepMs, now) - policy.overlap * 1000;
    remember(await listRevocations(store, since), now);
    polledAt = now;
    lastGoodPoll = startedAt;
  }

  function remember(found: readonly Revocation[], now: number): void {
    for (const { id, revokedAt } of found) ended.set(id, revokedAt);
    for (const [id, revokedAt] of ended) {
      if (revokedAt > now - keepMs) break;
      ended.delete(id);
    }
  }

  /** One poll at a time; whoever needs one while it runs shares it. */
  function pollOnce(): Promise<void> {
    polling ??= poll().finally(() => {
      polling = null;
    });
    return polling;
  }

  const pollQuietly = () => void (stopped || pollOnce().catch(onError));
  const timer = setInterval(pollQuietly, policy.poll * 1000);
  timer.unref();
  const stopHints = store.onHint(revocationsTopic, pollQuietly);
  await pollOnce();

  const isFresh = () => clock.monotonic() - lastGoodPoll <= policy.stale * 1000;

  return {
    has: (sessionId) => ended.has(sessionId),
    isFresh,
    async makeFresh() {
      if (isFresh()) return;
      // A poll that is already under way may have begun too long ago to count.
      for (let tries = 0; tries < 2 && !isFresh(); tries += 1) await pollOnce();
      if (!isFresh()) throw new Fault("unavailable", { detail: "revocations are stale", retryAfter: 1 });
    },
    add(sessionIds) {
      for (const id of sessionIds) ended.set(id, clock.now());
    },
    stop() {
      stopped = true;
      clearInterval(timer);
      stopHints();
    },
  };
}
