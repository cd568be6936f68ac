import { tenantIdPattern } from "@fieldgate/contract";
import type { Selectable } from "kysely";
import { Fault } from "../fault.ts";
import { recordEvent } from "../journal/record.ts";
import type { TenantTable } from "../store/schema.ts";
import { endSessions } from "../store/sessions.ts";
import type { Queries } from "../store/store.ts";
import type { UrlRules } from "./adapter-config.ts";
import { replaceProviders } from "./identity-providers.ts";
import { normaliseHost, parseTenantSettings, type TenantSettings } from "./tenant-settings.ts";

export type { TenantSettings } from "./tenant-settings.ts";

export interface Tenant {
  readonly id: string;
  readonly name: string;
  readonly settings: TenantSettings;
  /** Counts changes. */
  readonly version: number;
  readonly disabledAt: number | null;
}

export interface NewTenant {
  readonly id: string;
  readonly name: string;
  /** Checked by `parseTenantSettings`; left out, all are empty. */
  readonly settings?: unknown;
}

export interface TenantChange {
  readonly name?: string;
  /** Whole settings, in place of the old ones. */
  readonly settings?: unknown;
  /** Disabling ends every session of the tenant. */
  readonly disabled?: boolean;
  /** The version the change was made from; a newer one refuses it. Left out, the newest is changed. */
  readonly version?: number;
}

const idPattern = new RegExp(tenantIdPattern);

function toTenant(row: Selectable<TenantTable>): Tenant {
  const settings = JSON.parse(row.settings) as TenantSettings;
  return { id: row.id, name: row.name, settings, version: row.version, disabledAt: row.disabled_at };
}

function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === "" || [...trimmed].length > 200 || /\p{Cc}/u.test(trimmed)) {
    throw new Fault("invalid_request", {
      field: "name",
      message: "name must be 1 to 200 characters without control characters.",
    });
  }
  return trimmed;
}

export async function findTenant(q: Queries, id: string): Promise<Tenant | null> {
  if (!idPattern.test(id)) return null;
  const row = await q.db.selectFrom("tenants").selectAll().where("id", "=", id).executeTakeFirst();
  return row ? toTenant(row) : null;
}

export async function listTenants(q: Queries): Promise<Tenant[]> {
  const rows = await q.db.selectFrom("tenants").selectAll().orderBy("id").execute();
  return rows.map(toTenant);
}

/** The tenant that a request's host belongs to; case, port and a final dot make no difference. */
export async function findTenantIdByHost(q: Queries, host: string): Promise<string | null> {
  const name = normaliseHost(host);
  if (name === "") return null;
  const row = await q.db.selectFrom("tenant_hosts").select("tenant_id").where("host", "=", name).executeTakeFirst();
  return row?.tenant_id ?? null;
}

async function replaceHosts(tx: Queries, tenantId: string, hosts: readonly string[]): Promise<void> {
  await tx.db.deleteFrom("tenant_hosts").where("tenant_id", "=", tenantId).execute();
  for (const host of hosts) {
    const taken = await tx.db
      .insertInto("tenant_hosts")
      .values({ host, tenant_id: tenantId })
      .onConflict((conflict) => conflict.column("host").doNothing())
      .returning("host")
      .executeTakeFirst();
    if (taken) continue;
    throw new Fault("invalid_request", {
      field: "hosts",
      message: `The host ${host} already belongs to another tenant. Take it away there first.`,
    });
  }
}

/** Adds a tenant, its hosts and the journal's event, all in the transaction it is given. */
export async function addTenant(tx: Queries, tenant: NewTenant, rules: UrlRules): Promise<Tenant> {
  if (!idPattern.test(tenant.id)) {
    throw new Fault("invalid_request", {
      field: "id",
      message: `"${tenant.id}" cannot be a tenant's id. Use 1 to 63 lower-case letters, digits and hyphens, no hyphen at the ends.`,
    });
  }
  const name = checkName(tenant.name);
  const settings = parseTenantSettings(tenant.settings ?? {}, rules);
  const row = await tx.db
    .insertInto("tenants")
    .values({
      id: tenant.id,
      name,
      settings: JSON.stringify(settings),
      version: 1,
      created_at: tx.now,
      updated_at: tx.now,
      disabled_at: null,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) {
    throw new Fault("invalid_request", { field: "id", message: `There is already a tenant with the id ${tenant.id}.` });
  }
  await replaceHosts(tx, tenant.id, settings.hosts);
  await replaceProviders(tx, tenant.id, settings);
  await recordEvent(tx, { tenantId: tenant.id, type: "tenant.added", data: { version: 1 } });
  return toTenant(row);
}

/** Changes a tenant. What is left out stays as it is. */
export async function updateTenant(tx: Queries, id: string, change: TenantChange, rules: UrlRules): Promise<Tenant> {
  const before = await findTenant(tx, id);
  if (!before) throw new Fault("tenant_not_found", { message: `There is no tenant with the id ${id}.` });
  const settings = change.settings === undefined ? before.settings : parseTenantSettings(change.settings, rules);
  const disabled = change.disabled ?? before.disabledAt !== null;
  const row = await tx.db
    .updateTable("tenants")
    .set({
      name: change.name === undefined ? before.name : checkName(change.name),
      settings: JSON.stringify(settings),
      version: before.version + 1,
      updated_at: tx.now,
      disabled_at: disabled ? (before.disabledAt ?? tx.now) : null,
    })
    .where("id", "=", id)
    .where("version", "=", before.version)
    .returningAll()
    .executeTakeFirst();
  if (!row || (change.version !== undefined && change.version !== before.version)) {
    throw new Fault("invalid_request", {
      field: "version",
      message: `The tenant ${id} was changed by someone else meanwhile. Look at it again, then repeat the change.`,
    });
  }
  await replaceHosts(tx, id, settings.hosts);
  await replaceProviders(tx, id, settings);
  if (disabled && before.disabledAt === null) await endSessions(tx, { tenantId: id }, "tenant_disabled");
  await recordEvent(tx, { tenantId: id, type: "tenant.changed", data: { version: row.version, disabled } });
  return toTenant(row);
}
