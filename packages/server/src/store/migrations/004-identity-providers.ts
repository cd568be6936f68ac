import { sql } from "kysely";
import type { Migration } from "../migrate.ts";
import { type ColumnTypes, columnTypes } from "./column-types.ts";

export const identityProviders: Migration = {
  name: "identity-providers",
  async up(db, kind) {
    for (const statement of statements(columnTypes[kind])) await sql.raw(statement).execute(db);
  },
};

const statements = ({ text, int, table, churningTable }: ColumnTypes): readonly string[] => [
  `create table identity_providers (
    tenant_id ${text} not null references tenants (id),
    type ${text} not null,
    issuer ${text} not null,
    client_id ${text} not null,
    organization ${text} not null,
    config ${text} not null,
    sealed_secret ${text},
    primary key (tenant_id, type)
  ) ${table}`,
  "create unique index identity_providers_by_client on identity_providers (issuer, client_id, organization)",

  `alter table workers add column issuer ${text}`,
  `alter table workers add column subject ${text}`,
  "create unique index workers_by_subject on workers (tenant_id, issuer, subject) where subject is not null",

  `alter table sessions add column provider_sid ${text}`,
  "create index sessions_by_provider_sid on sessions (tenant_id, provider_sid) where provider_sid is not null",

  `create table spent_tokens (
    id ${text} primary key,
    expires_at ${int} not null
  ) ${churningTable}`,
  "create index spent_tokens_by_expiry on spent_tokens (expires_at)",

  `create table provider_logouts (
    id ${text} primary key,
    issued_at ${int} not null,
    expires_at ${int} not null
  ) ${table}`,
  "create index provider_logouts_by_expiry on provider_logouts (expires_at)",
];
