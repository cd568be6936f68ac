import { AuthManager, ConfigurationError } from "@fieldgate/client";
import { IndexedDbAuthStorageAdapter } from "@fieldgate/client/storage/indexed-db";
import type { AuthConfig } from "@fieldgate/contract";

export type Way = "otp" | "id" | "password" | "oidc_a" | "oidc_b";
export type Audience = "citizens" | "workers" | "";

const isProvider = (type: string): type is "oidc_a" | "oidc_b" => type === "oidc_a" || type === "oidc_b";

/** An identity provider of the tenant's workers. */
export interface Provider {
  readonly type: "oidc_a" | "oidc_b";
  /** What people know it by. */
  readonly name: string;
}

export function providersOf({ adapters }: AuthConfig): Provider[] {
  return adapters.flatMap(({ type, fields }) =>
    isProvider(type) ? [{ type, name: URL.parse(fields.authority ?? "")?.host ?? type }] : [],
  );
}

export const has = ({ adapters }: AuthConfig, type: Way): boolean => adapters.some((adapter) => adapter.type === type);

/** Reads what a tenant offers; rejects with what the service, or its silence, says. */
export async function fetchConfig(server: string, tenant: string): Promise<AuthConfig> {
  const response = await fetch(`${server}/api/tenants/${encodeURIComponent(tenant)}/auth-config`, {
    signal: AbortSignal.timeout(10_000),
    credentials: "omit",
  }).catch(() => null);
  const answer = await response?.json().catch(() => null);
  if (response?.ok && answer) return answer as AuthConfig;
  throw { code: response && answer?.code ? answer.code : "unreachable" };
}

/** The manager of a tenant's sessions on this device. */
export function openManager(server: string, { tenantId, adapters }: AuthConfig): AuthManager {
  const open = (configs: AuthConfig["adapters"]) =>
    new AuthManager(configs, server, new IndexedDbAuthStorageAdapter(tenantId));
  try {
    return open(adapters);
  } catch (error) {
    // A provider that is set up wrongly must not close the other ways in.
    if (!(error instanceof ConfigurationError)) throw error;
    return open(adapters.filter(({ type }) => !isProvider(type)));
  }
}
