import { type Selectable, sql } from "kysely";
import type { OutboxTable } from "./schema.ts";
import type { Queries } from "./store.ts";

export type OutboxRow = Selectable<OutboxTable>;
/** A message that a node holds for a while; `now` is the database's clock when it was taken. */
export type ClaimedRow = OutboxRow & { readonly now: number };
export type FinalState = "sent" | "failed" | "void";

export interface Claim {
  readonly medium: string;
  readonly most: number;
  readonly claimSeconds: number;
  /** Tenants whose messages have to wait, so that they do not stand in the way of others. */
  readonly exceptTenants?: readonly string[];
}

/** Word for word what the partial index says: a parameter here would make SQLite read the whole table. */
const isUnderWay = sql<boolean>`(state = 'pending' or state = 'sending')`;

/** Takes messages that are due for this node alone; a node that dies gives them up when its claim ends. */
export async function claimDue(q: Queries, node: string, claim: Claim): Promise<ClaimedRow[]> {
  const { medium, most, claimSeconds, exceptTenants = [] } = claim;
  let due = q.db
    .selectFrom("outbox")
    .select("id")
    .where(isUnderWay)
    .where("next_at", "<=", q.now)
    .where("claimed_until", "<=", q.now)
    .where("medium", "=", medium)
    .orderBy("next_at")
    .limit(most);
  if (exceptTenants.length > 0) due = due.where("tenant_id", "not in", exceptTenants);
  // SQLite runs one writer at a time; on PostgreSQL nodes step around what others hold.
  if (q.kind === "postgres") due = due.forUpdate().skipLocked();
  // Found once, as a table of its own: as a plain subquery PostgreSQL may run it again for each row and take more.
  return q.db
    .with("due", () => due)
    .updateTable("outbox")
    .set({
      state: "sending",
      claimed_by: node,
      claimed_until: sql<number>`${q.now} + ${claimSeconds * 1000}`,
      attempts: sql<number>`attempts + 1`,
    })
    .where("id", "in", (eb) => eb.selectFrom("due").select("due.id"))
    .returningAll()
    .returning(q.now.as("now"))
    .execute();
}

/** Only while the claim is ours: another node may have taken the message over meanwhile. */
function held(q: Queries, row: OutboxRow) {
  return q.db
    .updateTable("outbox")
    .where("id", "=", row.id)
    .where("claimed_by", "=", row.claimed_by)
    .where("state", "=", "sending");
}

/** Ends a message's journey, unless another node has taken it over meanwhile. */
export async function finish(
  tx: Queries,
  row: OutboxRow,
  state: FinalState,
  by: { readonly channel?: string; readonly channelIndex?: number; readonly providerId?: string } = {},
): Promise<boolean> {
  const done = await held(tx, row)
    .set({
      state,
      channel: by.channel ?? row.channel,
      channel_index: by.channelIndex ?? row.channel_index,
      provider_id: by.providerId ?? null,
      claimed_until: 0,
    })
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
  await held(q, row)
    .set({
      state: "pending",
      next_at: sql<number>`${q.now} + ${next.delayMs}`,
      channel_index: next.channelIndex,
      claimed_until: 0,
    })
    .execute();
}

/** Gives a message back as it was: it was not tried. */
export async function giveBack(q: Queries, row: OutboxRow): Promise<void> {
  await held(q, row)
    .set({ state: "pending", attempts: row.attempts - 1, claimed_until: 0 })
    .execute();
}

/** The message that a channel calls by this name, as long as nobody has said what became of it. */
export async function findSent(q: Queries, channel: string, providerId: string): Promise<ClaimedRow | null> {
  const row = await q.db
    .selectFrom("outbox")
    .selectAll()
    .select(q.now.as("now"))
    .where("provider_id", "=", providerId)
    .where("channel", "=", channel)
    .where("state", "=", "sent")
    .executeTakeFirst();
  return row ?? null;
}

/** Only as it was found: meanwhile it may have gone another way, of which the receipt says nothing. */
function stillSent(q: Queries, row: OutboxRow) {
  return q.db
    .updateTable("outbox")
    .where("id", "=", row.id)
    .where("state", "=", "sent")
    .where("channel", "=", row.channel)
    .where("provider_id", "=", row.provider_id);
}

/** Notes what became of a message that was sent; false when somebody was faster. */
export async function settleSent(q: Queries, row: OutboxRow, state: "delivered" | "failed"): Promise<boolean> {
  const changed = await stillSent(q, row).set({ state }).returning("id").executeTakeFirst();
  return changed !== undefined;
}

/** Sends a message once more that did not arrive, on the next channel, as if it were new. */
export async function sendAgain(q: Queries, row: OutboxRow): Promise<boolean> {
  const changed = await stillSent(q, row)
    .set({
      state: "pending",
      attempts: 0,
      channel_index: row.channel_index + 1,
      channel: null,
      provider_id: null,
      next_at: q.now,
      claimed_until: 0,
    })
    .returning("id")
    .executeTakeFirst();
  return changed !== undefined;
}

/** Messages for nobody that are too many: those of a tenant up to an expiry. */
export interface Surplus {
  readonly tenantId: string;
  readonly upTo: number;
}

const isForNobody = sql<boolean>`state = 'void'`;

/** Of each tenant that holds more than `most` messages for nobody, the oldest. */
export async function findSurplusOfNobody(q: Queries, most: number): Promise<Surplus[]> {
  const crowded = await q.db
    .selectFrom("outbox")
    .select("tenant_id")
    .where(isForNobody)
    .groupBy("tenant_id")
    .having((eb) => eb.fn.countAll(), ">", most)
    .execute();
  const surplus: Surplus[] = [];
  for (const { tenant_id: tenantId } of crowded) {
    const newest = await q.db
      .selectFrom("outbox")
      .select("expires_at")
      .where("tenant_id", "=", tenantId)
      .where(isForNobody)
      .orderBy("expires_at", "desc")
      .offset(most)
      .limit(1)
      .executeTakeFirst();
    if (newest) surplus.push({ tenantId, upTo: newest.expires_at });
  }
  return surplus;
}

export async function removeSurplus(tx: Queries, { tenantId, upTo }: Surplus, most: number): Promise<number> {
  const { numDeletedRows } = await tx.db
    .deleteFrom("outbox")
    .where("id", "in", (eb) =>
      eb
        .selectFrom("outbox")
        .select("id")
        .where("tenant_id", "=", tenantId)
        .where(isForNobody)
        .where("expires_at", "<=", upTo)
        .orderBy("expires_at")
        .limit(most),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
