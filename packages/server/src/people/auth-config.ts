import type { AuthConfig } from "@fieldgate/contract";
import type { Tenant } from "./tenants.ts";

/** What anybody may know of a tenant; null of one that is not there, or closed. */
export function authConfigOf(tenant: Tenant | null): AuthConfig | null {
  if (!tenant || tenant.disabledAt !== null) return null;
  const { defaultCountry, adapters, nationalId } = tenant.settings;
  const takesIds = adapters.some(({ type }) => type === "id");
  return {
    tenantId: tenant.id,
    name: tenant.name,
    ...(defaultCountry !== undefined && { defaultCountry }),
    ...(takesIds && { birthYearAlone: nationalId?.birthYearAlone ?? true }),
    adapters: [...adapters],
  };
}
