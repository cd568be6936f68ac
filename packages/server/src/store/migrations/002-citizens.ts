import { sql } from "kysely";
import type { Migration } from "../migrate.ts";
import { type ColumnTypes, columnTypes } from "./column-types.ts";

export const citizens: Migration = {
  name: "citizens",
  async up(db, kind) {
    for (const statement of statements(columnTypes[kind])) await sql.raw(statement).execute(db);
  },
};

const statements = ({ text, int, table, busyTable }: ColumnTypes): readonly string[] => [
  `alter table sessions add column parent_id ${text}`,
  "create index sessions_by_parent_session on sessions (parent_id) where parent_id is not null",

  `create table tenant_keys (
    id ${text} primary key,
    tenant_id ${text} not null,
    purpose ${text} not null,
    version ${int} not null,
    sealed ${text} not null,
    created_at ${int} not null
  ) ${table}`,
  "create unique index tenant_keys_by_version on tenant_keys (tenant_id, purpose, version)",

  `create table beneficiaries (
    id ${text} primary key,
    tenant_id ${text} not null references tenants (id),
    external_lookup ${text},
    sealed_external_id ${text},
    sealed_names ${text} not null,
    sealed_birth ${text},
    language ${text},
    key_version ${int} not null,
    version ${int} not null,
    created_at ${int} not null,
    updated_at ${int} not null,
    disabled_at ${int}
  ) ${table}`,
  "create unique index beneficiaries_by_external_id on beneficiaries (tenant_id, external_lookup)",
  "create index beneficiaries_by_key on beneficiaries (tenant_id, key_version, id)",

  `create table identifiers (
    id ${text} primary key,
    tenant_id ${text} not null,
    beneficiary_id ${text} not null references beneficiaries (id) on delete cascade,
    kind ${text} not null,
    type ${text} not null,
    lookup ${text} not null,
    sealed_value ${text} not null,
    position ${int} not null,
    active ${int} not null
  ) ${table}`,
  "create index identifiers_by_lookup on identifiers (tenant_id, lookup)",
  "create index identifiers_by_beneficiary on identifiers (beneficiary_id)",
  `create unique index identifiers_of_one_holder on identifiers (tenant_id, lookup)
    where kind = 'national_id' and active = 1`,

  `create table otp_challenges (
    slot ${text} primary key,
    id ${text} not null,
    tenant_id ${text} not null,
    recipient ${text} not null,
    purpose ${text} not null,
    key_id ${text} not null,
    attempts ${int} not null,
    sent_at ${int} not null,
    expires_at ${int} not null,
    consumed_at ${int}
  ) ${busyTable}`,
  "create unique index otp_challenges_by_id on otp_challenges (id)",
  "create index otp_challenges_by_expiry on otp_challenges (expires_at)",

  `create table handles (
    hash ${text} primary key,
    tenant_id ${text} not null,
    purpose ${text} not null,
    sealed_state ${text} not null,
    expires_at ${int} not null
  ) ${busyTable}`,
  "create index handles_by_expiry on handles (expires_at)",

  `create table outbox (
    id ${text} primary key,
    tenant_id ${text} not null,
    challenge_id ${text} not null,
    state ${text} not null,
    medium ${text} not null,
    sealed_job ${text} not null,
    attempts ${int} not null,
    channel_index ${int} not null,
    channel ${text},
    provider_id ${text},
    next_at ${int} not null,
    claimed_by ${text},
    claimed_until ${int} not null,
    created_at ${int} not null,
    expires_at ${int} not null
  ) ${busyTable}`,
  "create index outbox_due on outbox (next_at) where state = 'pending' or state = 'sending'",
  "create index outbox_by_provider_id on outbox (provider_id) where provider_id is not null",
  "create index outbox_by_expiry on outbox (expires_at)",

  `create table qr_issuers (
    id ${text} primary key,
    tenant_id ${text} not null references tenants (id),
    iss ${text} not null,
    kid ${text} not null,
    alg ${text} not null,
    jwk ${text} not null,
    options ${text} not null,
    state ${text} not null,
    not_before ${int},
    not_after ${int},
    retired_at ${int},
    sealed_private ${text},
    created_at ${int} not null
  ) ${table}`,
  "create unique index qr_issuers_by_key on qr_issuers (tenant_id, iss, kid, alg)",
  "create index qr_issuers_by_iss on qr_issuers (iss)",

  `create table cards (
    id ${text} primary key,
    tenant_id ${text} not null references tenants (id),
    beneficiary_id ${text} not null references beneficiaries (id) on delete cascade,
    lookup ${text} not null,
    fingerprint ${text} not null,
    issued_at ${int} not null,
    expires_at ${int} not null,
    revoked_at ${int}
  ) ${table}`,
  "create unique index cards_by_lookup on cards (tenant_id, lookup)",
  "create index cards_by_fingerprint on cards (tenant_id, fingerprint)",
  "create index cards_by_beneficiary on cards (beneficiary_id)",

  `create table revoked_cards (
    tenant_id ${text} not null references tenants (id),
    fingerprint ${text} not null,
    revoked_at ${int} not null,
    primary key (tenant_id, fingerprint)
  ) ${table}`,
];
