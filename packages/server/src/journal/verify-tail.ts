import { sql } from "kysely";
import type { Queries } from "../store/store.ts";
import type { FindingCollector } from "./finding.ts";
import { sealerLease } from "./sealer.ts";
import type { UnsignedTail } from "./tenant-check.ts";

/** An event waits about a second; after this many milliseconds it is worth a word. */
const unsealedAfter = 5000;

/**
 * Judges events behind the last checkpoint. The sealer signs each minute and when it is stopped in good order (then it
 * gives its lease back), so their absence is often proof that a checkpoint was removed; after a crash it is not.
 */
export async function createTailJudge(
  q: Queries,
  checkpointSeconds: number,
  findings: FindingCollector,
): Promise<(tenantId: string, tail: UnsignedTail) => void> {
  const lease = await q.db
    .selectFrom("leases")
    .select(["expires_at", q.now.as("now")])
    .where("name", "=", sealerLease)
    .executeTakeFirst();
  const backlog = await q.db
    .selectFrom("journal_events")
    .select("id")
    .where("seq", "is", null)
    .where("at", "<", sql<number>`${q.now} - ${sql.lit(unsealedAfter)}`)
    .limit(1)
    .executeTakeFirst();
  const patience = (2 * checkpointSeconds + 30) * 1000;

  return (tenantId, { from, to, since }) => {
    const events = from === to ? `Event ${from} has` : `Events ${from} to ${to} have`;
    if (!lease) {
      const told = `${events} no checkpoint, though the service was stopped in good order: one was removed.`;
      findings.error("checkpoint_removed", tenantId, to, told);
    } else if (lease.expires_at <= lease.now) {
      const told = `${events} no checkpoint yet: the service was not stopped in good order. It signs when it runs again.`;
      findings.warn("unsigned", tenantId, to, told);
    } else if (lease.now - since > patience && backlog) {
      findings.warn("unsigned", tenantId, to, `${events} no checkpoint yet: the sealer is catching up.`);
    } else if (lease.now - since > patience) {
      const told = `${events} no checkpoint, though the sealer is at work: one was removed, or it cannot sign (see its log).`;
      findings.error("checkpoint_removed", tenantId, to, told);
    }
  };
}

/** How many rows of the table are sealed, however they are ordered. */
export async function countSealed(q: Queries, tenantId: string | undefined): Promise<number> {
  let query = q.db
    .selectFrom("journal_events")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("seq", "is not", null);
  if (tenantId !== undefined) query = query.where("tenant_id", "=", tenantId);
  return Number((await query.executeTakeFirstOrThrow()).count);
}

/** Counts the events that are not in the chain yet, and tells of those that should be. */
export async function checkUnsealed(
  q: Queries,
  tenantId: string | undefined,
  findings: FindingCollector,
): Promise<number> {
  let query = q.db
    .selectFrom("journal_events")
    .select((eb) => [
      "tenant_id",
      q.now.as("now"),
      eb.fn.countAll<number>().as("count"),
      eb.fn.count<number>("hash").as("hashed"),
      sql<string>`cast(min(at) as text)`.as("oldest"),
    ])
    .where("seq", "is", null)
    .groupBy("tenant_id")
    .orderBy("tenant_id");
  if (tenantId !== undefined) query = query.where("tenant_id", "=", tenantId);
  let unsealed = 0;
  for (const row of await query.execute()) {
    unsealed += Number(row.count);
    if (Number(row.hashed) > 0) {
      findings.error("changed", row.tenant_id, null, `${row.hashed} sealed events have lost their place in the chain.`);
    }
    const age = row.now - Number(row.oldest);
    if (age > unsealedAfter) {
      const told = `${row.count} events are not in the chain yet, the oldest for ${Math.round(age / 1000)} seconds.`;
      findings.warn("unsealed", row.tenant_id, null, told);
    }
  }
  return unsealed;
}
