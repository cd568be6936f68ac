import type { RatePolicy } from "../config/policy.ts";
import { Fault } from "../fault.ts";
import type { Services } from "../services.ts";
import { type Rate, secondsUntilOpen, spend } from "../store/budgets.ts";
import type { Queries } from "../store/store.ts";
import { budgetKey } from "../tokens/index-key.ts";
import type { SyncCaller } from "./sync-caller.ts";
import type { ReadEvent } from "./sync-event.ts";

type Parts = Pick<Services, "keyring" | "config">;

function rateOf({ keyring }: Parts, { tenantId }: SyncCaller, what: string, whose: string, policy: RatePolicy): Rate {
  return { key: budgetKey(keyring.mac("index").secret, what, tenantId, whose), subject: "", ...policy };
}

const allowanceOf = ({ config }: Parts, { ownEntity }: SyncCaller) =>
  ownEntity === null ? config.policy.sync.worker : config.policy.sync.citizen;

/** What a push costs: one of its session's, and its events and bytes of the person's, who can have sessions without end. */
function ratesOf(parts: Parts, caller: SyncCaller) {
  const { events, bytes } = allowanceOf(parts, caller);
  return {
    session: rateOf(parts, caller, "sync-push", caller.sessionId, parts.config.policy.sync.perSession),
    events: rateOf(parts, caller, "sync-events", caller.userId, events),
    bytes: rateOf(parts, caller, "sync-bytes", caller.userId, bytes),
  };
}

/** Before any work is done: whoever has nothing left costs nothing more. */
export async function demandAllowance(services: Services, caller: SyncCaller): Promise<void> {
  for (const rate of Object.values(ratesOf(services, caller))) {
    const retryAfter = await secondsUntilOpen(services.store, rate);
    if (retryAfter !== null) throw new Fault("rate_limited", { retryAfter });
  }
}

export async function payForPush(
  tx: Queries,
  parts: Parts,
  caller: SyncCaller,
  events: readonly ReadEvent[],
): Promise<void> {
  const rates = ratesOf(parts, caller);
  const size = events.reduce((sum, { dataText }) => sum + dataText.length, 0);
  const costs: [Rate, number][] = [
    [rates.session, 1],
    [rates.events, events.length],
    [rates.bytes, size],
  ];
  for (const [rate, amount] of costs) {
    const retryAfter = await spend(tx, rate, amount);
    if (retryAfter !== null) throw new Fault("rate_limited", { retryAfter });
  }
}

/** How many people a node remembers the pages of; whoever asked longest ago is forgotten first. */
const rememberedPeople = 100_000;

/**
 * Counts pages, each node for itself: a pull writes nothing to the database, so that it waits for nobody who does. Throws
 * `rate_limited` where a person has had too many.
 */
export function createPullCounter({ config, clock, keyring }: Pick<Services, "config" | "clock" | "keyring">) {
  const counts = new Map<string, { count: number; readonly until: number }>();
  return (caller: SyncCaller): void => {
    const { limit, window } = allowanceOf({ config, keyring }, caller).pulls;
    const key = `${caller.tenantId} ${caller.userId}`;
    const now = clock.now();
    const known = counts.get(key);
    const current = known && known.until > now ? known : { count: 0, until: now + window * 1000 };
    if (current.count >= limit) {
      throw new Fault("rate_limited", { retryAfter: Math.max(1, Math.ceil((current.until - now) / 1000)) });
    }
    current.count += 1;
    counts.delete(key);
    counts.set(key, current);
    const [oldest] = counts.keys();
    if (counts.size > rememberedPeople && oldest !== undefined) counts.delete(oldest);
  };
}

/** How often a worker may still hear that somebody has an identifier. Citizens never do. */
export function takenAnswers(parts: Parts, caller: SyncCaller) {
  const rate = rateOf(parts, caller, "sync-taken", caller.userId, parts.config.policy.sync.takenPerWorker);
  return {
    /** Before anything is compared: taken or not, the answer is the same from here on. */
    async demandRoom(tx: Queries): Promise<void> {
      const retryAfter = await secondsUntilOpen(tx, rate);
      if (retryAfter !== null) throw new Fault("too_many_attempts", { retryAfter, detail: "identifiers taken" });
    },
    async count(tx: Queries, amount: number): Promise<void> {
      if (amount > 0) await spend(tx, rate, amount);
    },
  };
}
