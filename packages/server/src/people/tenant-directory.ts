import type { Clock } from "../clock.ts";
import type { Policy } from "../config/policy.ts";
import type { Store } from "../store/store.ts";
import { tenantPolicy } from "./tenant-policy.ts";
import { findTenant, findTenantIdByHost, type Tenant } from "./tenants.ts";

/** The tenants as requests need them: each read at most once a second, whoever asks. */
export interface TenantDirectory {
  find(id: string): Promise<Tenant | null>;
  findIdByHost(host: string): Promise<string | null>;
  /** The numbers that hold for a tenant; the deployment's own where there is no such tenant. */
  policy(id: string): Promise<Policy>;
}

const keepMs = 1000;
const mostKept = 10_000;

export function createTenantDirectory(store: Store, clock: Clock, policy: Policy): TenantDirectory {
  // A tenant that was just added is there at once.
  const tenants = memoise(
    clock,
    (id) => findTenant(store, id),
    (tenant) => tenant !== null,
  );
  // Most requests come by the deployment's own host, which is no tenant's: that too is asked only once a second.
  const hosts = memoise(
    clock,
    (host) => findTenantIdByHost(store, host),
    () => true,
  );
  return {
    find: tenants,
    findIdByHost: hosts,
    async policy(id) {
      const tenant = await tenants(id);
      return tenant ? tenantPolicy(policy, tenant.settings.policy) : policy;
    },
  };
}

/** Remembers for a second what is worth it. */
function memoise<Value>(clock: Clock, read: (key: string) => Promise<Value>, isWorthIt: (value: Value) => boolean) {
  const kept = new Map<string, { readonly value: Value; readonly until: number }>();
  return async (key: string): Promise<Value> => {
    const known = kept.get(key);
    if (known && known.until > clock.monotonic()) return known.value;
    const until = clock.monotonic() + keepMs;
    const value = await read(key);
    if (kept.size >= mostKept) kept.clear();
    if (isWorthIt(value)) kept.set(key, { value, until });
    else kept.delete(key);
    return value;
  };
}
