import type { Policy } from "../config/policy.ts";
import type { Services } from "../services.ts";
import { spend } from "../store/budgets.ts";
import type { Queries } from "../store/store.ts";
import { budgetKey } from "../tokens/index-key.ts";

/**
 * Sees a sweep over many ID numbers. When it trips, devices without a token need the second step; nobody is turned
 * away and no other way in is touched.
 */
export interface IdBreaker {
  count(tx: Queries, tenantId: string, policy: Policy, known: boolean): Promise<void>;
  isTripped(tenantId: string, policy: Policy): Promise<boolean>;
}

/** Rows that share the counting, so that all sign-ins of a tenant do not wait for one. */
const shards = 8;
const keepMs = 1000;
const uncounted = Number.MAX_SAFE_INTEGER;

export function createIdBreaker({ store, keyring, clock }: Pick<Services, "store" | "keyring" | "clock">): IdBreaker {
  const verdicts = new Map<string, { readonly tripped: boolean; readonly until: number }>();
  const key = (tenantId: string, what: "attempts" | "unknown", shard: number) =>
    budgetKey(keyring.mac("index").secret, "id-breaker", tenantId, what, String(shard));

  async function sum(tenantId: string, what: "attempts" | "unknown"): Promise<number> {
    const keys = Array.from({ length: shards }, (_, shard) => key(tenantId, what, shard));
    const rows = await store.db
      .selectFrom("budgets")
      .select("failed")
      .where("key", "in", keys)
      .where("expires_at", ">", store.now)
      .execute();
    return rows.reduce((total, row) => total + row.failed, 0);
  }

  return {
    async count(tx, tenantId, policy, known) {
      const shard = Math.floor(Math.random() * shards);
      const { window } = policy.nationalId.breaker;
      const one = (what: "attempts" | "unknown") =>
        spend(tx, { key: key(tenantId, what, shard), subject: "", limit: uncounted, window });
      await one("attempts");
      if (!known) await one("unknown");
    },
    async isTripped(tenantId, policy) {
      const kept = verdicts.get(tenantId);
      if (kept && kept.until > clock.monotonic()) return kept.tripped;
      const { unknown, percent } = policy.nationalId.breaker;
      const strangers = await sum(tenantId, "unknown");
      const tripped = strangers >= unknown && strangers * 100 >= (await sum(tenantId, "attempts")) * percent;
      verdicts.set(tenantId, { tripped, until: clock.monotonic() + keepMs });
      return tripped;
    },
  };
}
