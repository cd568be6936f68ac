import type { Database } from "../store/schema.ts";

export interface BackupTable {
  readonly name: keyof Database;
  /** The columns of the primary key: rows are read page by page in their order. */
  readonly key: readonly string[];
  /**
   * What a restore does with the rows. `once`: they belong to steps that were under way and must not be taken twice,
   * so they are dropped; `session`: dropped too, unless sessions are kept.
   */
  readonly restore: "keep" | "once" | "session";
}

/** What a backup does not hold: who has which lease is true only in the database where it was taken. */
type LeftOut = "leases";

// Typed by the schema: a new table is a type error here until someone has decided about it.
const tablesByName: Readonly<Record<Exclude<keyof Database, LeftOut>, Omit<BackupTable, "name">>> = {
  deployment: { key: ["name"], restore: "keep" },
  keys: { key: ["id"], restore: "keep" },
  tenants: { key: ["id"], restore: "keep" },
  tenant_hosts: { key: ["host"], restore: "keep" },
  tenant_keys: { key: ["id"], restore: "keep" },
  identity_providers: { key: ["tenant_id", "type"], restore: "keep" },
  workers: { key: ["id"], restore: "keep" },
  beneficiaries: { key: ["id"], restore: "keep" },
  identifiers: { key: ["id"], restore: "keep" },
  qr_issuers: { key: ["id"], restore: "keep" },
  cards: { key: ["id"], restore: "keep" },
  revoked_cards: { key: ["tenant_id", "fingerprint"], restore: "keep" },
  sync_heads: { key: ["tenant_id"], restore: "keep" },
  sync_entities: { key: ["tenant_id", "entity_id"], restore: "keep" },
  sync_events: { key: ["tenant_id", "position"], restore: "keep" },
  sync_proposals: { key: ["tenant_id", "event_id"], restore: "keep" },
  vault_keys: { key: ["tenant_id", "user_id"], restore: "keep" },
  sessions: { key: ["id"], restore: "keep" },
  devices: { key: ["id"], restore: "keep" },
  budgets: { key: ["key"], restore: "keep" },
  dpop_proofs: { key: ["id"], restore: "session" },
  spent_tokens: { key: ["id"], restore: "session" },
  provider_logouts: { key: ["id"], restore: "keep" },
  otp_challenges: { key: ["slot"], restore: "once" },
  handles: { key: ["hash"], restore: "once" },
  outbox: { key: ["id"], restore: "once" },
  journal_events: { key: ["id"], restore: "keep" },
  journal_heads: { key: ["tenant_id"], restore: "keep" },
  journal_checkpoints: { key: ["tenant_id", "seq"], restore: "keep" },
};

/** Every table of a backup, each behind those its rows refer to. */
export const backupTables: readonly BackupTable[] = Object.entries(tablesByName).map(([name, table]) => ({
  name: name as keyof Database,
  ...table,
}));

/** Every table there is, in an order in which they can be dropped. */
export const tablesToDrop: readonly string[] = [
  "schema_migrations",
  "leases" satisfies LeftOut,
  ...backupTables.map((table) => table.name).toReversed(),
];
