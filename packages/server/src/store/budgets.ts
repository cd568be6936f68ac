import { type RawBuilder, sql } from "kysely";
import { built, prepare, unhurried } from "./prepared.ts";
import type { Queries, Store } from "./store.ts";

/**
 * How often something may fail. An attempt is reserved before anything is compared, so that parallel guesses cannot
 * outrun the count, and settled afterwards.
 */
export interface Budget {
  readonly key: string;
  /** Whose budget it is: see `BudgetTable`. */
  readonly subject: string;
  readonly limit: number;
  /** Seconds until failures are forgotten: from the first one, or with a lock from the last. */
  readonly window: number;
  /** With a lock each failure at or over the limit closes the budget for a time that doubles. */
  readonly lock?: { readonly first: number; readonly longest: number };
}

export type Reservation =
  | { readonly granted: true }
  /** `settling`: only attempts under way stand in the way; asking again in a moment makes sense. */
  | { readonly granted: false; readonly settling: boolean; readonly retryAfter: number };

/** Attempts under way count for this long; a crash in between must not close a budget for ever. */
const inflightMs = 30_000;

class Refused extends Error {
  readonly budget: Budget;
  constructor(budget: Budget) {
    super("over budget");
    this.budget = budget;
  }
}

/** One order for everyone: two transactions that share two budgets must not wait for each other. */
const inOrder = (budgets: readonly Budget[]) => [...budgets].sort((a, b) => (a.key < b.key ? -1 : 1));

/**
 * Reserves an attempt in every budget, or in none. It need not be on the disk yet: nobody hears how the attempt ended
 * before that is, and the reservation with it.
 */
export async function reserveAttempt(store: Store, budgets: readonly Budget[]): Promise<Reservation> {
  const [first, ...others] = inOrder(budgets);
  if (first === undefined) return { granted: true };
  // One statement is a transaction of its own, and does not wait for the disk either.
  if (others.length === 0) return (await reserve(store, first)) ? { granted: true } : whyRefused(store, first);
  try {
    await store.transaction(async (tx) => {
      for (const budget of [first, ...others]) if (!(await reserve(tx, budget))) throw new Refused(budget);
    }, "later");
    return { granted: true };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return whyRefused(store, error.budget);
  }
}

interface ReserveValues {
  readonly key: string;
  readonly subject: string;
  readonly limit: number;
  readonly windowMs: number;
}

function reservation(q: Queries, { key, subject, windowMs }: ReserveValues, allowed: RawBuilder<unknown>) {
  const now = q.now;
  const expired = sql`budgets.expires_at <= ${now}`;
  const counted = sql`CASE WHEN budgets.inflight_until <= ${now} THEN budgets.failed ELSE budgets.reserved END`;
  return built(
    q,
    sql<{ reserved: number }>`
    INSERT INTO budgets (key, subject, reserved, failed, locked_until, inflight_until, expires_at)
    VALUES (${key}, ${subject}, 1, 0, 0, ${now} + ${inflightMs}, ${now} + ${windowMs})
    ON CONFLICT (key) DO UPDATE SET
      reserved = CASE WHEN ${expired} THEN 1 ELSE ${counted} + 1 END,
      failed = CASE WHEN ${expired} THEN 0 ELSE budgets.failed END,
      locked_until = CASE WHEN ${expired} THEN 0 ELSE budgets.locked_until END,
      inflight_until = ${now} + ${inflightMs},
      expires_at = CASE WHEN ${expired} THEN ${now} + ${windowMs} ELSE budgets.expires_at END
    WHERE ${expired} OR (budgets.locked_until <= ${now} AND ${counted} < ${allowed})
    RETURNING reserved, ${unhurried(q)}`,
  );
}

const reserveInWindow = prepare((q, values: ReserveValues) => reservation(q, values, sql`${values.limit}`), "later");

// Past the limit a lock lets one attempt through each time it opens.
const reserveUnderLock = prepare(
  (q, values: ReserveValues) =>
    reservation(
      q,
      values,
      sql`CASE WHEN budgets.failed >= ${values.limit} THEN budgets.failed + 1 ELSE ${values.limit} END`,
    ),
  "later",
);

async function reserve(q: Queries, { key, subject, limit, window, lock }: Budget): Promise<boolean> {
  const statement = lock ? reserveUnderLock : reserveInWindow;
  return (await statement(q, { key, subject, limit, windowMs: window * 1000 })).length === 1;
}

async function whyRefused(q: Queries, { key, limit, lock }: Budget): Promise<Reservation> {
  const row = await q.db
    .selectFrom("budgets")
    .select(["failed", "locked_until", "expires_at", q.now.as("now")])
    .where("key", "=", key)
    .executeTakeFirst();
  // The row may have gone, or opened, since it refused.
  if (!row) return { granted: false, settling: true, retryAfter: 1 };
  // A lock that has opened is full only until the one attempt it lets through is settled.
  const opensAt = lock ? row.locked_until : row.failed >= limit ? row.expires_at : 0;
  return {
    granted: false,
    settling: opensAt <= row.now,
    retryAfter: Math.max(1, Math.ceil((opensAt - row.now) / 1000)),
  };
}

/**
 * Gives a reservation back. What is counted never falls below what has failed: a row may have begun anew, or dropped
 * attempts that took too long, while this one was under way.
 */
const oneLess = sql<number>`CASE WHEN reserved > failed THEN reserved - 1 ELSE failed END`;

/** The attempt failed: it stays counted, and over the limit the lock closes. True when a lock is closed now. */
export async function settleFailure(tx: Queries, budgets: readonly Budget[]): Promise<boolean> {
  let closed = false;
  for (const { key, limit, window, lock } of inOrder(budgets)) {
    const counted = {
      failed: sql<number>`failed + 1`,
      reserved: sql<number>`CASE WHEN reserved > failed THEN reserved ELSE failed + 1 END`,
    };
    const update = tx.db.updateTable("budgets").where("key", "=", key);
    if (!lock) {
      await update.set(counted).execute();
      continue;
    }
    const until = sql<number>`${tx.now} + ${lockMs(lock, limit)}`;
    const row = await update
      .set({
        ...counted,
        locked_until: sql<number>`CASE WHEN failed + 1 >= ${limit} THEN ${until} ELSE locked_until END`,
        expires_at: sql<number>`${tx.now} + ${window * 1000}`,
      })
      .returning("failed")
      .executeTakeFirst();
    closed ||= row !== undefined && row.failed >= limit;
  }
  return closed;
}

/** `first * 2^(failures over the limit)`, at most `longest`; spelt out, because SQLite may lack `power()`. */
function lockMs(lock: { readonly first: number; readonly longest: number }, limit: number) {
  const steps = Math.max(1, Math.ceil(Math.log2(lock.longest / lock.first)));
  // PostgreSQL takes a bare parameter in a CASE for text.
  const ms = (seconds: number) => sql`cast(${Math.min(seconds, lock.longest) * 1000} as bigint)`;
  const cases = Array.from({ length: steps }, (_, over) => {
    return sql`WHEN failed + 1 <= ${limit + over} THEN ${ms(lock.first * 2 ** over)}`;
  });
  return sql<number>`CASE ${sql.join(cases, sql` `)} ELSE ${ms(lock.longest)} END`;
}

const release = prepare((tx, { key }: { key: string }) =>
  tx.db.updateTable("budgets").set({ reserved: oneLess }).where("key", "=", key),
);
const forgive = prepare((tx, { key }: { key: string }) =>
  tx.db
    .updateTable("budgets")
    .set({ reserved: sql<number>`${oneLess} - failed`, failed: 0, locked_until: 0 })
    .where("key", "=", key),
);

/** The attempt succeeded: a lock's failures are forgotten, a window's stay until it ends. */
export async function settleSuccess(tx: Queries, budgets: readonly Budget[]): Promise<void> {
  for (const { key, lock } of inOrder(budgets)) await (lock ? forgive(tx, { key }) : release(tx, { key }));
}

/** The attempt came to no verdict, such as in an outage: it does not count. */
export async function releaseAttempt(tx: Queries, budgets: readonly Budget[]): Promise<void> {
  for (const { key } of inOrder(budgets)) await release(tx, { key });
}

/** A limit on how often something is done, whether it fails or not. */
export interface Rate {
  readonly key: string;
  readonly subject: string;
  readonly limit: number;
  /** Seconds. */
  readonly window: number;
}

interface CountValues extends ReserveValues {
  readonly amount: number;
}

const count = prepare((tx, { key, subject, limit, windowMs, amount }: CountValues) => {
  const now = tx.now;
  return built(
    tx,
    sql<{ failed: number }>`
    INSERT INTO budgets (key, subject, reserved, failed, locked_until, inflight_until, expires_at)
    VALUES (${key}, ${subject}, ${amount}, ${amount}, 0, 0, ${now} + ${windowMs})
    ON CONFLICT (key) DO UPDATE SET
      reserved = CASE WHEN budgets.expires_at <= ${now} THEN excluded.reserved ELSE budgets.reserved + excluded.reserved END,
      failed = CASE WHEN budgets.expires_at <= ${now} THEN excluded.failed ELSE budgets.failed + excluded.failed END,
      expires_at = CASE WHEN budgets.expires_at <= ${now} THEN ${now} + ${windowMs} ELSE budgets.expires_at END
    WHERE budgets.expires_at <= ${now} OR budgets.failed < ${limit}
    RETURNING failed`,
  );
});

/**
 * Counts one more, or as many as are said, unless the limit is reached: then the seconds until it opens. Whoever has room for
 * one has room for all of them.
 */
export async function spend(tx: Queries, rate: Rate, amount = 1): Promise<number | null> {
  const spent = await spendAndCount(tx, rate, amount);
  return spent.granted ? null : spent.retryAfter;
}

/** The same, and how many they are now. */
export async function spendAndCount(
  tx: Queries,
  { key, subject, limit, window }: Rate,
  amount = 1,
): Promise<{ readonly granted: true; readonly count: number } | { readonly granted: false; retryAfter: number }> {
  const [row] = await count(tx, { key, subject, limit, windowMs: window * 1000, amount });
  if (row) return { granted: true, count: row.failed };
  return { granted: false, retryAfter: (await secondsUntilOpen(tx, { key, limit })) ?? 1 };
}

const countAndEnd = prepare((q, { key }: { key: string }) =>
  q.db
    .selectFrom("budgets")
    .select(["failed", "expires_at", q.now.as("now")])
    .where("key", "=", key),
);

/** The seconds until a limit opens again; null while it is open. */
export async function secondsUntilOpen(q: Queries, rate: Pick<Rate, "key" | "limit">): Promise<number | null> {
  const [row] = await countAndEnd(q, { key: rate.key });
  if (!row || row.failed < rate.limit || row.expires_at <= row.now) return null;
  return Math.max(1, Math.ceil((row.expires_at - row.now) / 1000));
}

/** Forgets everything that is held against someone. */
export async function clearSubject(tx: Queries, subject: string): Promise<number> {
  const result = await tx.db.deleteFrom("budgets").where("subject", "=", subject).executeTakeFirst();
  return Number(result.numDeletedRows);
}
