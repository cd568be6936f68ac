/** The statements of a refresh, written by hand; the same on both databases but for clock and placeholders. */

export interface SessionRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly user_id: string;
  readonly username: string;
  readonly amr: string;
  readonly acr: string;
  readonly scope: string;
  readonly device_id: string;
  readonly counter: number;
  readonly jkt: string | null;
  readonly expires_at: number;
  readonly absolute_expires_at: number;
}

export interface Rotation {
  readonly id: string;
  readonly presented: number;
  readonly presentedHash: string;
  readonly nextHash: string;
  /** The proof to use up; null for a plain session. */
  readonly proofId: string | null;
  readonly eventId: string;
}

/** What the hand-written server does with its database. */
export interface HandDatabase {
  findSession(id: string): Promise<SessionRow | undefined> | SessionRow | undefined;
  /** One transaction: uses the proof up, moves the family on, writes the event. */
  rotate(rotation: Rotation): Promise<SessionRow | undefined> | SessionRow | undefined;
  close(): Promise<void> | void;
}

export const proofLifeMs = 900_000;

export const texts = {
  find: (now: string) => `select *, ${now} as now from sessions where id = $1`,
  useProof: (now: string) =>
    `insert into dpop_proofs (id, expires_at) values ($1, ${now} + $2) on conflict (id) do nothing returning id`,
  rotate: (now: string) =>
    `update sessions set counter = $1, head_hash = $2, parent_hash = $3, rotated_at = ${now},
       expires_at = case when ${now} + idle_ms < absolute_expires_at then ${now} + idle_ms else absolute_expires_at end
     where id = $4 and counter <= $5 and revoked_at is null and expires_at > ${now} returning *`,
  record: (now: string) =>
    `insert into journal_events (id, tenant_id, at, type, subject, session_id, data, seq, hash)
     values ($1, $2, ${now}, $3, $4, $5, $6, null, null)`,
};
