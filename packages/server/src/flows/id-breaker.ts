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
  count(tx: Queries, tenantId: string, policy: Policy, what: Counted): Promise<void>;
  isTripped(tenantId: string, policy: Policy): Promise<boolean>;
}

/**
 * What a device without a token did: a person signed in who had not for a while, a number was tried that nobody has, or
 * a wrong date for one that somebody has. Who signs in again and again is one person, so that a sweep cannot hide behind
 * them; a wrong date decides nothing, and is counted because a failure must cost the same whether anyone has the number.
 */
export type Counted = "people" | "unknown" | "wrong";

/** Rows that share the counting, so that all sign-ins of a tenant do not wait for one. */
const shards = 8;
const keepMs = 1000;
const uncounted = Number.MAX_SAFE_INTEGER;

export function createIdBreaker({ store, keyring, clock }: Pick<Services, "store" | "keyring" | "clock">): IdBreaker {
  const verdicts = new Map<string, { readonly tripped: boolean; readonly until: number }>();
  const key = (tenantId: string, what: Counted, shard: number) =>
    budgetKey(keyring.mac("index").secret, "id-breaker", tenantId, what, String(shard));

  async function sum(tenantId: string, what: Counted): Promise<number> {
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
    async count(tx, tenantId, policy, what) {
      const shard = Math.floor(Math.random() * shards);
      const { window } = policy.nationalId.breaker;
      await spend(tx, { key: key(tenantId, what, shard), subject: "", limit: uncounted, window });
    },
    async isTripped(tenantId, policy) {
      const kept = verdicts.get(tenantId);
      if (kept && kept.until > clock.monotonic()) return kept.tripped;
      const { unknown, percent } = policy.nationalId.breaker;
      const strangers = await sum(tenantId, "unknown");
      const isMany = strangers >= unknown;
      const tripped = isMany && strangers * 100 >= (strangers + (await sum(tenantId, "people"))) * percent;
      verdicts.set(tenantId, { tripped, until: clock.monotonic() + keepMs });
      return tripped;
    },
  };
}
