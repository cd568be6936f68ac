/**
 * The tables. Instants are integer milliseconds, flags are 0 or 1, lists and settings are JSON text: one set of
 * columns that SQLite and PostgreSQL hold alike.
 */
export interface Database {
  tenants: TenantTable;
  tenant_hosts: { host: string; tenant_id: string };
  identity_providers: IdentityProviderTable;
  workers: WorkerTable;
  sessions: SessionTable;
  devices: DeviceTable;
  budgets: BudgetTable;
  dpop_proofs: { id: string; expires_at: number };
  /** ID tokens and logout tokens of identity providers that were used, as hashes: each is good once. */
  spent_tokens: { id: string; expires_at: number };
  provider_logouts: ProviderLogoutTable;
  keys: KeyTable;
  /** Facts about the deployment as a whole, such as which secret wraps the keys. */
  deployment: { name: string; value: string };
  leases: { name: string; holder: string; expires_at: number };
  journal_events: JournalEventTable;
  journal_heads: { tenant_id: string; seq: number; hash: string };
  journal_checkpoints: JournalCheckpointTable;
  tenant_keys: TenantKeyTable;
  beneficiaries: BeneficiaryTable;
  identifiers: IdentifierTable;
  otp_challenges: OtpChallengeTable;
  handles: HandleTable;
  outbox: OutboxTable;
  qr_issuers: QrIssuerTable;
  cards: CardTable;
  /** Cards of other issuers that a tenant no longer accepts, by their fingerprint. */
  revoked_cards: { tenant_id: string; fingerprint: string; revoked_at: number };
  sync_heads: SyncHeadTable;
  sync_entities: SyncEntityTable;
  sync_events: SyncEventTable;
  sync_proposals: SyncProposalTable;
  vault_keys: VaultKeyTable;
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

/** The identity providers of the tenants' settings, as tokens find them. Written with the settings, never by itself. */
export interface IdentityProviderTable {
  tenant_id: string;
  /** `oidc_a` or `oidc_b`. */
  type: string;
  /** Without a slash at its end. */
  issuer: string;
  client_id: string;
  /** Empty for `oidc_b`. */
  organization: string;
  /** JSON: `ProviderConfig`. */
  config: string;
  /** The client secret for introspection, sealed under the deployment secret. */
  sealed_secret: string | null;
}

/** What identity providers ended: their tokens issued until then are worth nothing. */
export interface ProviderLogoutTable {
  /** Hash of the issuer with its session or its subject. */
  id: string;
  /** The provider's time of the logout. */
  issued_at: number;
  expires_at: number;
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
  /** Whom an identity provider knows as `subject`; both null for a worker with a username. */
  issuer: string | null;
  subject: string | null;
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
  /** The worker's session in which someone was helped to sign in: it ends, and this one with it. */
  parent_id: string | null;
  /** The `sid` of the identity provider's session from which this one came. */
  provider_sid: string | null;
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

/** The keys of one tenant's personal data, sealed under the deployment secret. */
export interface TenantKeyTable {
  id: string;
  tenant_id: string;
  /** `data` encrypts, `index` makes blind indexes. */
  purpose: string;
  /** Grows with each rotation: new writes use the newest, everything else is still found. */
  version: number;
  sealed: string;
  created_at: number;
}

/** Whatever starts with `sealed_` is encrypted with tenant, table, row and column as associated data. */
export interface BeneficiaryTable {
  /** The entity id: opaque, never personal. */
  id: string;
  tenant_id: string;
  /** Blind index of the external id; null where there is none. */
  external_lookup: string | null;
  sealed_external_id: string | null;
  /** JSON: `Names`. */
  sealed_names: string;
  /** JSON: `BirthDate`; null where it is not known. */
  sealed_birth: string | null;
  /** BCP 47, for messages. */
  language: string | null;
  /** The newest version of the tenant's keys that this row and its identifiers are written with. */
  key_version: number;
  version: number;
  created_at: number;
  updated_at: number;
  disabled_at: number | null;
}

export interface IdentifierTable {
  id: string;
  tenant_id: string;
  beneficiary_id: string;
  /** `phone`, `email` or `national_id`. */
  kind: string;
  /** What kind of national ID it is; empty for the others. */
  type: string;
  /** Blind index of the canonical value. */
  lookup: string;
  sealed_value: string;
  /** Order of preference among those of one kind. */
  position: number;
  /** 0 while the beneficiary is disabled: then the number is free for another. */
  active: number;
}

/** One living code per slot: a tenant, a recipient and a purpose. The code itself is nowhere. */
export interface OtpChallengeTable {
  slot: string;
  /** 128 random bits, from which the code is derived. */
  id: string;
  tenant_id: string;
  /** Blind index of the recipient, or the beneficiary's id for a second step. */
  recipient: string;
  purpose: string;
  key_id: string;
  attempts: number;
  sent_at: number;
  expires_at: number;
  consumed_at: number | null;
}

/** Single-use handles between two steps of a sign-in: `selection` and `step-up`. Only their hashes lie here. */
export interface HandleTable {
  hash: string;
  tenant_id: string;
  purpose: string;
  /** JSON, sealed under the tenant's data key. */
  sealed_state: string;
  expires_at: number;
}

/** Messages on their way. Rows name a challenge; the code is derived when it is sent. */
export interface OutboxTable {
  id: string;
  tenant_id: string;
  challenge_id: string;
  /** `pending`, `sending`, `sent`, `delivered`, `failed` or `void` (nobody has that address). */
  state: string;
  /** `sms` or `email`. */
  medium: string;
  /** JSON: what to send to whom, sealed under the tenant's data key. */
  sealed_job: string;
  attempts: number;
  /** Which of the medium's channels is next. */
  channel_index: number;
  channel: string | null;
  /** The channel's own name for the message, for receipts. */
  provider_id: string | null;
  next_at: number;
  claimed_by: string | null;
  claimed_until: number;
  created_at: number;
  expires_at: number;
}

/** Who a tenant trusts to sign QR cards. */
export interface QrIssuerTable {
  id: string;
  tenant_id: string;
  iss: string;
  /** Empty where the issuer's cards name no key. */
  kid: string;
  alg: string;
  /** JSON. */
  jwk: string;
  /** JSON: what of the standard this issuer bends. */
  options: string;
  /** `active`, `retired` or `compromised`. */
  state: string;
  not_before: number | null;
  not_after: number | null;
  retired_at: number | null;
  /** Sealed private half, for the tenant's own programme cards alone. */
  sealed_private: string | null;
  created_at: number;
}

/** The programme's own cards. */
export interface CardTable {
  id: string;
  tenant_id: string;
  beneficiary_id: string;
  /** Blind index of the card number. */
  lookup: string;
  /** The number itself: without it the index could not be made anew when keys are rotated. Null on the oldest rows. */
  sealed_number: string | null;
  fingerprint: string;
  issued_at: number;
  expires_at: number;
  revoked_at: number | null;
}

/** The end of each tenant's log of events: whoever appends holds this row until the commit. */
export interface SyncHeadTable {
  tenant_id: string;
  /** Random; another one after a restore, when positions are given out a second time. */
  epoch: string;
  position: number;
}

export interface SyncEntityTable {
  tenant_id: string;
  entity_id: string;
  /** How many events the entity has. */
  version: number;
  /** The device of the newest event, and the version from which on all events are that device's. */
  device_id: string;
  run_start: number;
  deleted_at: number | null;
  /** Nothing of it is kept, and nothing more is taken. */
  erased_at: number | null;
  /** The entity that it is one person with. */
  merged_into: string | null;
}

/** Events in the order of their commits; rows change only when keys are rotated or the entity is erased. */
export interface SyncEventTable {
  tenant_id: string;
  position: number;
  /** Made by the author's device: the same event is stored once. */
  id: string;
  entity_id: string;
  version: number;
  received_at: number;
  /** Characters of `sealed_event`, so that a page can be measured before it is read. */
  size: number;
  /** JSON: `EventContent`; null when the entity was erased. */
  sealed_event: string | null;
}

/** Changes of an identifier that wait for a supervisor. What they are is in the event. */
export interface SyncProposalTable {
  tenant_id: string;
  event_id: string;
  entity_id: string;
  /** JSON list of names of fields. */
  fields: string;
  /** `open`, `accepted` or `refused`. */
  state: string;
  created_at: number;
  decided_at: number | null;
}

/** The key under which a user's devices keep what is not yet sent. */
export interface VaultKeyTable {
  tenant_id: string;
  user_id: string;
  id: string;
  sealed_key: string;
  created_at: number;
}
