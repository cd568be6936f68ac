import { tenantIdPattern } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import type { Services } from "../services.ts";

/** The places where a request may name its tenant. */
export interface TenantHints {
  readonly body: string | undefined;
  readonly header: string | undefined;
  readonly host: string;
}

const form = new RegExp(tenantIdPattern);

/** The tenant that a request names, or null where it names none. All places that name one must agree. */
export async function statedTenant({ tenants }: Services, hints: TenantHints): Promise<string | null> {
  if (hints.header !== undefined && !form.test(hints.header)) {
    throw new Fault("invalid_request", { field: "X-Tenant-Id", message: "X-Tenant-Id is not a tenant's id." });
  }
  const byHost = await tenants.findIdByHost(hints.host);
  const stated = [hints.body, hints.header, byHost].filter((id) => id !== undefined && id !== null);
  if (new Set(stated).size > 1) throw new Fault("tenant_conflict");
  return stated[0] ?? null;
}

/**
 * The tenant of a sign-in: the one it names, else what `otherwise` knows, else the deployment's default. It need not
 * exist.
 */
export async function tenantOfSignIn(
  services: Services,
  hints: TenantHints,
  otherwise: () => Promise<string | null> = async () => null,
): Promise<string> {
  const tenantId = (await statedTenant(services, hints)) ?? (await otherwise()) ?? services.config.defaultTenant;
  if (tenantId === null) throw new Fault("tenant_required");
  return tenantId;
}
