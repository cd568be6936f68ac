import { sql } from "kysely";
import type { Migration } from "../migrate.ts";
import { type ColumnTypes, columnTypes } from "./column-types.ts";

export const foundation: Migration = {
  name: "foundation",
  async up(db, kind) {
    for (const statement of statements(columnTypes[kind])) await sql.raw(statement).execute(db);
  },
};

const statements = ({ text, int, table, busyTable, churningTable }: ColumnTypes): readonly string[] => [
  `create table tenants (
    id ${text} primary key,
    name ${text} not null,
    settings ${text} not null,
    version ${int} not null,
    created_at ${int} not null,
    updated_at ${int} not null,
    disabled_at ${int}
  ) ${table}`,

  `create table tenant_hosts (
    host ${text} primary key,
    tenant_id ${text} not null references tenants (id)
  ) ${table}`,
  "create index tenant_hosts_by_tenant on tenant_hosts (tenant_id)",

  `create table workers (
    id ${text} primary key,
    tenant_id ${text} not null references tenants (id),
    username ${text} not null,
    username_key ${text} not null,
    password_hash ${text},
    credential_version ${int} not null,
    roles ${text} not null,
    created_at ${int} not null,
    updated_at ${int} not null,
    disabled_at ${int}
  ) ${table}`,
  "create unique index workers_by_username on workers (tenant_id, username_key)",

  `create table sessions (
    id ${text} primary key,
    tenant_id ${text} not null,
    user_id ${text} not null,
    kind ${text} not null,
    username ${text} not null,
    provider ${text} not null,
    amr ${text} not null,
    acr ${text} not null,
    scope ${text} not null,
    entity_id ${text},
    device_id ${text},
    refresh_key_id ${text},
    counter ${int} not null,
    head_hash ${text},
    parent_hash ${text},
    jkt ${text},
    created_at ${int} not null,
    rotated_at ${int} not null,
    idle_ms ${int} not null,
    expires_at ${int} not null,
    absolute_expires_at ${int} not null,
    revoked_at ${int},
    revoked_reason ${text}
  ) ${busyTable}`,
  "create index sessions_by_user on sessions (tenant_id, user_id)",
  "create index sessions_by_head on sessions (head_hash) where head_hash is not null",
  "create index sessions_by_parent on sessions (parent_hash) where parent_hash is not null",
  "create index sessions_by_revocation on sessions (revoked_at) where revoked_at is not null",
  "create index sessions_by_expiry on sessions (expires_at)",

  `create table devices (
    id ${text} primary key,
    tenant_id ${text} not null,
    user_id ${text} not null,
    created_at ${int} not null,
    expires_at ${int} not null
  ) ${table}`,
  "create index devices_by_user on devices (tenant_id, user_id)",
  "create index devices_by_expiry on devices (expires_at)",

  `create table budgets (
    key ${text} primary key,
    subject ${text} not null,
    reserved ${int} not null,
    failed ${int} not null,
    locked_until ${int} not null,
    inflight_until ${int} not null,
    expires_at ${int} not null
  ) ${busyTable}`,
  "create index budgets_by_subject on budgets (subject)",
  "create index budgets_by_expiry on budgets (expires_at)",

  `create table dpop_proofs (
    id ${text} primary key,
    expires_at ${int} not null
  ) ${churningTable}`,
  "create index dpop_proofs_by_expiry on dpop_proofs (expires_at)",

  `create table keys (
    id ${text} primary key,
    purpose ${text} not null,
    alg ${text} not null,
    public_jwk ${text},
    sealed ${text} not null,
    created_at ${int} not null,
    active_from ${int} not null,
    retires_at ${int},
    expires_at ${int}
  ) ${table}`,

  `create table deployment (
    name ${text} primary key,
    value ${text} not null
  ) ${table}`,

  `create table leases (
    name ${text} primary key,
    holder ${text} not null,
    expires_at ${int} not null
  ) ${busyTable}`,

  `create table journal_events (
    id ${text} primary key,
    tenant_id ${text} not null,
    at ${int} not null,
    type ${text} not null,
    subject ${text},
    session_id ${text},
    data ${text} not null,
    seq ${int},
    hash ${text}
  ) ${churningTable}`,
  "create index journal_events_unsealed on journal_events (tenant_id, at, id) where seq is null",
  "create unique index journal_events_by_seq on journal_events (tenant_id, seq)",

  `create table journal_heads (
    tenant_id ${text} primary key,
    seq ${int} not null,
    hash ${text} not null
  ) ${busyTable}`,

  `create table journal_checkpoints (
    tenant_id ${text} not null,
    seq ${int} not null,
    hash ${text} not null,
    at ${int} not null,
    key_id ${text} not null,
    signature ${text} not null,
    primary key (tenant_id, seq)
  ) ${table}`,
];
