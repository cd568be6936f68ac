import { type Selectable, sql } from "kysely";
import type { OtpPurpose } from "../tokens/otp-code.ts";
import { prepare, unhurried } from "./prepared.ts";
import type { OtpChallengeTable } from "./schema.ts";
import type { Queries } from "./store.ts";

export interface OtpChallenge {
  readonly slot: string;
  readonly id: string;
  readonly tenantId: string;
  readonly recipient: string;
  readonly purpose: OtpPurpose;
  readonly keyId: string;
  readonly expiresAt: number;
}

export type NewChallenge = Omit<OtpChallenge, "expiresAt">;

export interface ChallengeTimes {
  /** Seconds a code is good for. */
  readonly life: number;
  /** Seconds within which nothing is sent again. */
  readonly resend: number;
  /** Wrong tries that burn it. */
  readonly tries: number;
}

function toChallenge(row: Selectable<OtpChallengeTable>): OtpChallenge {
  return {
    slot: row.slot,
    id: row.id,
    tenantId: row.tenant_id,
    recipient: row.recipient,
    purpose: row.purpose as OtpPurpose,
    keyId: row.key_id,
    expiresAt: row.expires_at,
  };
}

export interface OpenedChallenge {
  readonly challenge: OtpChallenge;
  /** Whether a message is due: not where one was sent a moment ago. */
  readonly send: boolean;
  /** Seconds for which the code is still good. */
  readonly expiresIn: number;
}

/** The living challenge of a slot, or a new one in its place. A living one keeps its code and its end. */
export async function openChallenge(
  tx: Queries,
  fresh: NewChallenge,
  { life, resend, tries }: ChallengeTimes,
): Promise<OpenedChallenge> {
  const rested = sql<boolean>`otp_challenges.sent_at <= ${tx.now} - ${resend * 1000}`;
  const again = await tx.db
    .updateTable("otp_challenges")
    .set({ sent_at: tx.now })
    .where("slot", "=", fresh.slot)
    .where("consumed_at", "is", null)
    .where("attempts", "<", tries)
    .where("expires_at", ">", tx.now)
    .where(rested)
    .returningAll()
    .returning(tx.now.as("now"))
    .executeTakeFirst();
  if (again) return opened(again, true);

  const values = {
    id: fresh.id,
    key_id: fresh.keyId,
    attempts: 0,
    sent_at: tx.now,
    expires_at: sql<number>`${tx.now} + ${life * 1000}`,
    consumed_at: null,
  };
  const replaced = await tx.db
    .insertInto("otp_challenges")
    .values({
      slot: fresh.slot,
      tenant_id: fresh.tenantId,
      recipient: fresh.recipient,
      purpose: fresh.purpose,
      ...values,
    })
    .onConflict((conflict) => conflict.column("slot").doUpdateSet(values).where(rested))
    .returningAll()
    .returning(tx.now.as("now"))
    .executeTakeFirst();
  if (replaced) return opened(replaced, true);

  const resting = await tx.db
    .selectFrom("otp_challenges")
    .selectAll()
    .select(tx.now.as("now"))
    .where("slot", "=", fresh.slot)
    .executeTakeFirstOrThrow();
  return opened(resting, false);
}

function opened(row: Selectable<OtpChallengeTable> & { readonly now: number }, send: boolean): OpenedChallenge {
  return { challenge: toChallenge(row), send, expiresIn: Math.max(1, Math.ceil((row.expires_at - row.now) / 1000)) };
}

interface Try {
  readonly slot: string;
  readonly tries: number;
}

const livingIn = prepare((q, { slot, tries }: Try) =>
  q.db
    .selectFrom("otp_challenges")
    .select("slot")
    .where("slot", "=", slot)
    .where("consumed_at", "is", null)
    .where("attempts", "<", tries)
    .where("expires_at", ">", q.now),
);

export async function hasLivingChallenge(q: Queries, slot: string, tries: number): Promise<boolean> {
  return (await livingIn(q, { slot, tries })).length > 0;
}

const countTry = prepare(
  (q, { slot, tries }: Try) =>
    q.db
      .updateTable("otp_challenges")
      .set({ attempts: sql<number>`attempts + 1` })
      .where("slot", "=", slot)
      .where("consumed_at", "is", null)
      .where("attempts", "<", tries)
      .where("expires_at", ">", q.now)
      .returningAll()
      .returning(unhurried(q).as("unhurried")),
  "later",
);

/**
 * Takes one of the tries before anything is compared; null where none is left. It is on the disk before anybody hears
 * how the try ended, and need not be earlier.
 */
export async function takeTry(q: Queries, slot: string, tries: number): Promise<OtpChallenge | null> {
  const [row] = await countTry(q, { slot, tries });
  return row ? toChallenge(row) : null;
}

const useUp = prepare((tx, { slot, id }: { slot: string; id: string }) =>
  tx.db
    .updateTable("otp_challenges")
    .set({ consumed_at: tx.now })
    .where("slot", "=", slot)
    .where("id", "=", id)
    .where("consumed_at", "is", null)
    .where("expires_at", ">", tx.now)
    .returning("slot"),
);

/** Uses the code up; false when somebody was faster. */
export async function consumeChallenge(tx: Queries, { slot, id }: OtpChallenge): Promise<boolean> {
  return (await useUp(tx, { slot, id })).length === 1;
}
