import { type AdapterConfig, issuerOf, type OidcType, oidcTypes, type WorkerRole } from "@fieldgate/contract";
import type { Selectable } from "kysely";
import { Fault } from "../fault.ts";
import type { IdentityProviderTable } from "../store/schema.ts";
import type { Queries } from "../store/store.ts";
import { isUniqueViolation } from "../store/unique-violation.ts";
import type { KeyVault } from "../tokens/key-vault.ts";
import { openKeysForChange } from "../tokens/keys.ts";
import type { TenantSettings } from "./tenant-settings.ts";

/** A tenant's identity provider, as tokens are held against it. */
export interface IdentityProvider extends ProviderConfig {
  readonly tenantId: string;
  readonly type: OidcType;
  /** Without a slash at its end. Which of the two spellings tokens must have, the discovery document says. */
  readonly issuer: string;
  readonly clientId: string;
  /** Empty for `oidc_b`. */
  readonly organization: string;
  readonly sealedSecret: string | null;
}

export interface ProviderConfig {
  readonly audience: string | null;
  readonly requiredRole: string | null;
  readonly rolesClaim: string;
  readonly roleMapping: Readonly<Record<string, WorkerRole>> | null;
  readonly provision: "first-sight" | "invited";
  /** Who asks about opaque tokens, where it is not the client itself. */
  readonly introspectionClient: string | null;
}

const defaultRolesClaim: Readonly<Record<OidcType, string>> = { oidc_a: "roles", oidc_b: "realm_access.roles" };

type ProviderRow = Omit<Selectable<IdentityProviderTable>, "sealed_secret">;

function toRow(tenantId: string, adapter: AdapterConfig & { type: OidcType }, settings: TenantSettings): ProviderRow {
  const { type, fields } = adapter;
  const own = settings.identityProviders?.[type] ?? {};
  const config: ProviderConfig = {
    audience: fields.audience ?? null,
    requiredRole: own.requiredRole ?? null,
    rolesClaim: own.rolesClaim ?? defaultRolesClaim[type],
    roleMapping: own.roleMapping ?? null,
    provision: own.provision ?? "first-sight",
    introspectionClient: own.introspectionClient ?? null,
  };
  return {
    tenant_id: tenantId,
    type,
    issuer: issuerOf(adapter),
    client_id: fields.client_id ?? "",
    organization: type === "oidc_a" ? (fields.organization ?? "") : "",
    config: JSON.stringify(config),
  };
}

function toProvider(row: Selectable<IdentityProviderTable>): IdentityProvider {
  return {
    ...(JSON.parse(row.config) as ProviderConfig),
    tenantId: row.tenant_id,
    type: row.type as OidcType,
    issuer: row.issuer,
    clientId: row.client_id,
    organization: row.organization,
    sealedSecret: row.sealed_secret,
  };
}

/** Writes the providers that a tenant's settings name. A client secret stays while issuer and client do. */
export async function replaceProviders(tx: Queries, tenantId: string, settings: TenantSettings): Promise<void> {
  const before = await tx.db.selectFrom("identity_providers").selectAll().where("tenant_id", "=", tenantId).execute();
  await tx.db.deleteFrom("identity_providers").where("tenant_id", "=", tenantId).execute();
  for (const adapter of settings.adapters) {
    if (!isOidc(adapter)) continue;
    const row = toRow(tenantId, adapter, settings);
    await demandOwn(tx, row);
    const kept = before.find(
      (old) => old.type === row.type && old.issuer === row.issuer && old.client_id === row.client_id,
    );
    try {
      await tx.db
        .insertInto("identity_providers")
        .values({ ...row, sealed_secret: kept?.sealed_secret ?? null })
        .execute();
    } catch (error) {
      // Two tenants at the same moment: the index decides.
      if (isUniqueViolation(error)) throw taken(row);
      throw error;
    }
  }
}

function isOidc(adapter: AdapterConfig): adapter is AdapterConfig & { type: OidcType } {
  return oidcTypes.some((type) => type === adapter.type);
}

/** A token must belong to one tenant: a client without an organization takes all tokens of its issuer for itself. */
async function demandOwn(tx: Queries, row: ProviderRow): Promise<void> {
  const others = await tx.db
    .selectFrom("identity_providers")
    .select("organization")
    .where("issuer", "=", row.issuer)
    .where("client_id", "=", row.client_id)
    .execute();
  const clash = others.some(
    ({ organization }) => organization === row.organization || organization === "" || row.organization === "",
  );
  if (clash) throw taken(row);
}

function taken({ issuer, client_id: client, organization }: ProviderRow): Fault {
  const where = organization === "" ? "" : ` and the organization ${organization}`;
  return new Fault("invalid_request", {
    field: "adapters",
    message: `The client ${client} of ${issuer}${where} already belongs to a provider, perhaps of another tenant. Make a client of its own at the identity provider.`,
  });
}

/** The identity providers of all tenants that are not disabled. */
export async function listProviders(q: Queries): Promise<IdentityProvider[]> {
  const rows = await q.db
    .selectFrom("identity_providers")
    .innerJoin("tenants", "tenants.id", "identity_providers.tenant_id")
    .selectAll("identity_providers")
    .where("tenants.disabled_at", "is", null)
    .orderBy("identity_providers.tenant_id")
    .orderBy("identity_providers.type")
    .execute();
  return rows.map(toProvider);
}

const secretPurpose = "introspection";
const secretId = (tenantId: string, type: string) => `${tenantId}/${type}`;

/** Sets the client secret that introspection needs; null takes it away. */
export async function setProviderSecret(
  tx: Queries,
  vault: KeyVault,
  { tenantId, type }: Pick<IdentityProvider, "tenantId" | "type">,
  secret: string | null,
): Promise<void> {
  await openKeysForChange(tx, vault);
  const sealed = secret === null ? null : vault.seal(secretId(tenantId, type), secretPurpose, Buffer.from(secret));
  const row = await tx.db
    .updateTable("identity_providers")
    .set({ sealed_secret: sealed })
    .where("tenant_id", "=", tenantId)
    .where("type", "=", type)
    .returning("type")
    .executeTakeFirst();
  if (!row) throw new Fault("not_found", { message: `The tenant ${tenantId} has no adapter ${type}. Add it first.` });
}

/** The client secret of a provider; null where it has none. */
export function openProviderSecret(vault: KeyVault, provider: IdentityProvider): string | null {
  const { sealedSecret, tenantId, type } = provider;
  if (sealedSecret === null) return null;
  return Buffer.from(vault.open(secretId(tenantId, type), secretPurpose, sealedSecret)).toString();
}

/** Seals the client secrets anew under another deployment secret. */
export async function rewrapProviderSecrets(tx: Queries, from: KeyVault, to: KeyVault): Promise<number> {
  const rows = await tx.db
    .selectFrom("identity_providers")
    .select(["tenant_id", "type", "sealed_secret"])
    .where("sealed_secret", "is not", null)
    .execute();
  for (const { tenant_id: tenantId, type, sealed_secret: sealed } of rows) {
    const id = secretId(tenantId, type);
    const next = to.seal(id, secretPurpose, from.open(id, secretPurpose, sealed ?? ""));
    await tx.db
      .updateTable("identity_providers")
      .set({ sealed_secret: next })
      .where("tenant_id", "=", tenantId)
      .where("type", "=", type)
      .execute();
  }
  return rows.length;
}
