import { sql } from "kysely";
import type { Migration } from "../migrate.ts";
import { type ColumnTypes, columnTypes } from "./column-types.ts";

export const sync: Migration = {
  name: "sync",
  async up(db, kind) {
    for (const statement of statements(columnTypes[kind])) await sql.raw(statement).execute(db);
  },
};

const statements = ({ text, int, table, busyTable }: ColumnTypes): readonly string[] => [
  `create table sync_heads (
    tenant_id ${text} primary key references tenants (id),
    epoch ${text} not null,
    position ${int} not null
  ) ${busyTable}`,

  `create table sync_entities (
    tenant_id ${text} not null references tenants (id),
    entity_id ${text} not null,
    version ${int} not null,
    device_id ${text} not null,
    run_start ${int} not null,
    deleted_at ${int},
    erased_at ${int},
    merged_into ${text},
    primary key (tenant_id, entity_id)
  ) ${busyTable}`,

  "create index sync_entities_by_merge on sync_entities (tenant_id, merged_into) where merged_into is not null",

  `create table sync_events (
    tenant_id ${text} not null references tenants (id),
    position ${int} not null,
    id ${text} not null,
    entity_id ${text} not null,
    version ${int} not null,
    received_at ${int} not null,
    size ${int} not null,
    sealed_event ${text},
    primary key (tenant_id, position)
  ) ${table}`,
  "create unique index sync_events_by_id on sync_events (tenant_id, id)",
  "create index sync_events_by_entity on sync_events (tenant_id, entity_id, position)",

  `create table sync_proposals (
    tenant_id ${text} not null references tenants (id),
    event_id ${text} not null,
    entity_id ${text} not null,
    fields ${text} not null,
    state ${text} not null,
    created_at ${int} not null,
    decided_at ${int},
    primary key (tenant_id, event_id)
  ) ${table}`,
  "create index sync_proposals_by_entity on sync_proposals (tenant_id, entity_id)",
  "create index sync_proposals_open on sync_proposals (tenant_id, created_at) where state = 'open'",

  `create table vault_keys (
    tenant_id ${text} not null references tenants (id),
    user_id ${text} not null,
    id ${text} not null,
    sealed_key ${text} not null,
    created_at ${int} not null,
    primary key (tenant_id, user_id)
  ) ${table}`,
];
