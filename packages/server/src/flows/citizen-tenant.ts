import type { Policy } from "../config/policy.ts";
import { deploymentTenant } from "../journal/event.ts";
import type { TenantCipher } from "../people/data-keys.ts";
import type { Tenant } from "../people/tenants.ts";
import type { Services } from "../services.ts";

/** What a citizen's sign-in needs to know of the tenant it names. */
export interface CitizenTenant {
  /** The tenant whose budgets and keys count. Every unknown tenant has the same, in which nobody lives. */
  readonly id: string;
  readonly tenant: Tenant | null;
  readonly cipher: TenantCipher;
  readonly policy: Policy;
}

/** An unknown or disabled tenant is one without people: it answers, and costs, the same. */
export async function citizenTenant({ tenants, dataKeys }: Services, tenantId: string): Promise<CitizenTenant> {
  const found = await tenants.find(tenantId);
  const tenant = found?.disabledAt === null ? found : null;
  const id = tenant?.id ?? deploymentTenant;
  return { id, tenant, cipher: await dataKeys.cipher(id), policy: await tenants.policy(id) };
}
