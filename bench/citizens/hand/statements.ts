/**
 * The statements of both ways in, written by hand; the same on both databases but for clock, lock and placeholders.
 * The numbers of the policy stand in them as they are.
 */
export interface Dialect {
  readonly now: string;
  readonly forShare: string;
  /** Returned by what need not wait for the disk. */
  readonly unhurried: string;
}

const day = 86_400_000;
const inflight = 30_000;

function reserve({ now, unhurried }: Dialect, windowMs: number, allowed: string): string {
  const counted = `case when budgets.inflight_until <= ${now} then budgets.failed else budgets.reserved end`;
  const expired = `budgets.expires_at <= ${now}`;
  return `insert into budgets (key, subject, reserved, failed, locked_until, inflight_until, expires_at)
    values ($1, $2, 1, 0, 0, ${now} + ${inflight}, ${now} + ${windowMs})
    on conflict (key) do update set
      reserved = case when ${expired} then 1 else ${counted} + 1 end,
      failed = case when ${expired} then 0 else budgets.failed end,
      locked_until = case when ${expired} then 0 else budgets.locked_until end,
      inflight_until = ${now} + ${inflight},
      expires_at = case when ${expired} then ${now} + ${windowMs} else budgets.expires_at end
    where ${expired} or (budgets.locked_until <= ${now} and ${counted} < ${allowed})
    returning reserved, ${unhurried}`;
}

/** One more within an hour, unless there were as many already. */
const count = (now: string, limit: number): string => `insert into budgets
      (key, subject, reserved, failed, locked_until, inflight_until, expires_at)
    values ($1, $2, 1, 1, 0, 0, ${now} + 3600000)
    on conflict (key) do update set
      reserved = case when budgets.expires_at <= ${now} then 1 else budgets.reserved + 1 end,
      failed = case when budgets.expires_at <= ${now} then 1 else budgets.failed + 1 end,
      expires_at = case when budgets.expires_at <= ${now} then ${now} + 3600000 else budgets.expires_at end
    where budgets.expires_at <= ${now} or budgets.failed < ${limit} returning failed`;

const oneLess = "case when reserved > failed then reserved - 1 else failed end";

export const statements = ({ now, forShare, unhurried }: Dialect) => ({
  hasLivingChallenge: `select slot from otp_challenges
    where slot = $1 and consumed_at is null and attempts < 5 and expires_at > ${now}`,
  takeTry: `update otp_challenges set attempts = attempts + 1
    where slot = $1 and consumed_at is null and attempts < 5 and expires_at > ${now} returning *, ${unhurried}`,
  consume: `update otp_challenges set consumed_at = ${now}
    where slot = $1 and id = $2 and consumed_at is null and expires_at > ${now} returning slot`,

  reserveCode: reserve(
    { now, forShare, unhurried },
    3 * day,
    "case when budgets.failed >= 20 then budgets.failed + 1 else 20 end",
  ),
  settleCode: `update budgets set reserved = ${oneLess} - failed, failed = 0, locked_until = 0 where key = $1`,
  reserveNumber: reserve({ now, forShare, unhurried }, day, "5"),
  settleNumber: `update budgets set reserved = ${oneLess} where key = $1`,
  readNetwork: `select failed, expires_at, ${now} as now from budgets where key = $1`,
  countSignIn: count(now, 30),
  countPerson: count(now, Number.MAX_SAFE_INTEGER),

  holders: "select distinct beneficiary_id from identifiers where tenant_id = $1 and lookup = $2 and active = 1",
  bornHolder: `select b.id, b.tenant_id, b.sealed_birth from identifiers i join beneficiaries b on b.id = i.beneficiary_id
    where i.tenant_id = $1 and i.lookup = $2 and i.active = 1`,
  isActive: `select id from beneficiaries where id = $1 and tenant_id = $2 and disabled_at is null ${forShare}`,

  rememberDevice: `insert into devices (id, tenant_id, user_id, created_at, expires_at)
    values ($1, $2, $3, ${now}, ${now} + ${180 * day})
    on conflict (id) do update set expires_at = ${now} + ${180 * day}`,
  insertSession: `insert into sessions (id, tenant_id, user_id, kind, username, provider, amr, acr, scope, entity_id,
      parent_id, device_id, refresh_key_id, counter, head_hash, parent_hash, jkt, created_at, rotated_at, idle_ms,
      expires_at, absolute_expires_at, revoked_at, revoked_reason)
    values ($1, $2, $3, 'beneficiary', $4, $5, $6, $7, 'self-service', $3, null, $8, null, 0, null, null, null,
      ${now}, ${now}, cast($9 as bigint), ${now} + cast($9 as bigint), ${now} + cast($9 as bigint), null, null)
    returning *`,
  record: `insert into journal_events (id, tenant_id, at, type, subject, session_id, data, seq, hash)
    values ($1, $2, ${now}, $3, $4, $5, $6, null, null)`,
});

export type StatementName = keyof ReturnType<typeof statements>;

/** One statement with its values, asked for by a piece of work; the rows are what it gets. */
export type Step = readonly [name: StatementName, ...values: string[]];

/** Written once for both databases: one runs it at a stretch, the other waits at each step. */
export type Work<T> = Generator<Step, T, unknown[]>;

export function* first<Row>(...step: Step): Work<Row | undefined> {
  const rows = yield step;
  return rows[0] as Row | undefined;
}

export interface HandDatabase {
  /** Each statement by itself. */
  alone<T>(work: Work<T>): T | Promise<T>;
  /** The same, without waiting for the disk. */
  later<T>(work: Work<T>): T | Promise<T>;
  /** All in one transaction, which an error undoes. */
  together<T>(work: Work<T>): T | Promise<T>;
}
