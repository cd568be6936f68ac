/**
 * The tables. Instants are integer milliseconds, flags are 0 or 1, lists and settings are JSON text: one set of
 * columns that SQLite and PostgreSQL hold alike.
 */
export interface Database {
  tenants: TenantTable;
  tenant_hosts: { host: string; tenant_id: string };
  workers: WorkerTable;
  sessions: SessionTable;
  devices: DeviceTable;
  budgets: BudgetTable;
  dpop_proofs: { id: string; expires_at: number };
  keys: KeyTable;
  /** Facts about the deployment as a whole, such as which secret wraps the keys. */
  deployment: { name: string; value: string };
  leases: { name: string; holder: string; expires_at: number };
  journal_events: JournalEventTable;
  journal_heads: { tenant_id: string; seq: number; hash: string };
  journal_checkpoints: JournalCheckpointTable;
}

export interface TenantTable {
  id: string;
  name: string;
  /** JSON: `TenantSettings`. */
  settings: string;
  /** Counts changes, against lost updates. */
  version: number;
  created_at: number;
  updated_at: number;
  disabled_at: number | null;
}

export interface WorkerTable {
  id: string;
  tenant_id: string;
  username: string;
  /** The folded username: two spellings of one name are one worker. */
  username_key: string;
  password_hash: string | null;
  /** Grows with each change of password, role or state; a sign-in holds only if it is still what was checked. */
  credential_version: number;
  /** JSON list of roles. */
  roles: string;
  created_at: number;
  updated_at: number;
  disabled_at: number | null;
}

export interface SessionTable {
  id: string;
  tenant_id: string;
  user_id: string;
  kind: string;
  /** As it was at sign-in, so that checking a token reads one row. */
  username: string;
  provider: string;
  /** JSON list. */
  amr: string;
  acr: string;
  scope: string;
  entity_id: string | null;
  device_id: string | null;
  /** Null where the session has no refresh token. */
  refresh_key_id: string | null;
  counter: number;
  /** SHA-256 of the newest refresh token and of its parent: what `refreshTokenHash` finds. */
  head_hash: string | null;
  parent_hash: string | null;
  /** RFC 7638 thumbprint of the key the session is bound to; null for a plain session. */
  jkt: string | null;
  created_at: number;
  rotated_at: number;
  idle_ms: number;
  expires_at: number;
  absolute_expires_at: number;
  revoked_at: number | null;
  revoked_reason: string | null;
}

export interface DeviceTable {
  id: string;
  tenant_id: string;
  user_id: string;
  created_at: number;
  expires_at: number;
}

export interface BudgetTable {
  key: string;
  /** Whose budget it is, as a keyed hash: `user unlock` finds every row of a person by it. */
  subject: string;
  /** Attempts that failed or are still under way. */
  reserved: number;
  failed: number;
  locked_until: number;
  /** Until when attempts under way count: one that a crash cut off must not count for ever. */
  inflight_until: number;
  expires_at: number;
}

export interface KeyTable {
  id: string;
  purpose: string;
  alg: string;
  /** JSON, for asymmetric keys. */
  public_jwk: string | null;
  /** The secret half, sealed under the deployment secret. */
  sealed: string;
  created_at: number;
  active_from: number;
  /** When the next key takes over; null while there is none. */
  retires_at: number | null;
  /** When nothing made with it can be valid any more. */
  expires_at: number | null;
}

export interface JournalEventTable {
  id: string;
  tenant_id: string;
  at: number;
  type: string;
  subject: string | null;
  session_id: string | null;
  /** JSON object, no secrets and no personal data. */
  data: string;
  /** Null until the sealer has chained the event. */
  seq: number | null;
  hash: string | null;
}

export interface JournalCheckpointTable {
  tenant_id: string;
  seq: number;
  hash: string;
  at: number;
  key_id: string;
  signature: string;
}
