import { type Selectable, sql } from "kysely";
import type { OutboxTable } from "./schema.ts";
import type { Queries } from "./store.ts";

export type OutboxRow = Selectable<OutboxTable>;
export type FinalState = "sent" | "failed" | "void";

/** Takes messages that are due for this node alone; a node that dies gives them up when its claim ends. */
export async function claimDue(
  q: Queries,
  node: string,
  { most, claimSeconds }: { most: number; claimSeconds: number },
): Promise<OutboxRow[]> {
  let due = q.db
    .selectFrom("outbox")
    .select("id")
    .where("state", "in", ["pending", "sending"])
    .where("next_at", "<=", q.now)
    .where("claimed_until", "<=", q.now)
    .orderBy("next_at")
    .limit(most);
  // SQLite runs one writer at a time; on PostgreSQL nodes step around what others hold.
  if (q.kind === "postgres") due = due.forUpdate().skipLocked();
  return q.db
    .updateTable("outbox")
    .set({
      state: "sending",
      claimed_by: node,
      claimed_until: sql<number>`${q.now} + ${claimSeconds * 1000}`,
      attempts: sql<number>`attempts + 1`,
    })
    .where("id", "in", due)
    .returningAll()
    .execute();
}

/** Ends a message's journey, unless another node has taken it over meanwhile. */
export async function finish(
  tx: Queries,
  row: OutboxRow,
  state: FinalState,
  by: { readonly channel?: string; readonly providerId?: string } = {},
): Promise<boolean> {
  const done = await tx.db
    .updateTable("outbox")
    .set({ state, channel: by.channel ?? row.channel, provider_id: by.providerId ?? null, claimed_until: 0 })
    .where("id", "=", row.id)
    .where("claimed_by", "=", row.claimed_by)
    .where("state", "=", "sending")
    .returning("id")
    .executeTakeFirst();
  return done !== undefined;
}

/** Tries again later, perhaps on the next channel. */
export async function postpone(
  q: Queries,
  row: OutboxRow,
  next: { readonly delayMs: number; readonly channelIndex: number },
): Promise<void> {
  await q.db
    .updateTable("outbox")
    .set({
      state: "pending",
      next_at: sql<number>`${q.now} + ${next.delayMs}`,
      channel_index: next.channelIndex,
      claimed_until: 0,
    })
    .where("id", "=", row.id)
    .where("claimed_by", "=", row.claimed_by)
    .where("state", "=", "sending")
    .execute();
}

/** Notes what became of a message that was sent; returns it where it is ours. */
export async function noteReceipt(
  q: Queries,
  channel: string,
  providerId: string,
  delivered: boolean,
): Promise<OutboxRow | null> {
  const row = await q.db
    .updateTable("outbox")
    .set({ state: delivered ? "delivered" : "failed" })
    .where("provider_id", "=", providerId)
    .where("channel", "=", channel)
    .where("state", "=", "sent")
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}
