import { type WorkerRole, workerRoles } from "@fieldgate/contract";
import type { ProviderConfig } from "./identity-providers.ts";
import { isUsername } from "./username.ts";

export type Claims = Readonly<Record<string, unknown>>;

/** A claim by its exact name, which may hold dots (`https://example.org/roles`), else by a path (`realm_access.roles`). */
export function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Claims)[key];
  }
  return value;
}

/** The roles that a provider gives: a list of names, or names with spaces between them. */
export function providerRoles(claims: Claims, path: string): readonly string[] {
  const value = claimAt(claims, path);
  if (typeof value === "string") return value.split(" ").filter((role) => role !== "");
  return Array.isArray(value) ? value.filter((role) => typeof role === "string") : [];
}

/** What a worker may do here; null where the tenant maps no roles and leaves them to its administrators. */
export function mappedRoles(claims: Claims, config: ProviderConfig): WorkerRole[] | null {
  const { roleMapping, rolesClaim } = config;
  if (roleMapping === null) return null;
  const mapped = providerRoles(claims, rolesClaim).flatMap((role) =>
    Object.hasOwn(roleMapping, role) ? [roleMapping[role]] : [],
  );
  const roles = workerRoles.filter((role) => mapped.includes(role));
  return roles.length > 0 ? roles : ["field-worker"];
}

export function hasRequiredRole(claims: Claims, { requiredRole, rolesClaim }: ProviderConfig): boolean {
  return requiredRole === null || providerRoles(claims, rolesClaim).includes(requiredRole);
}

/** The name to show of a person; null where the claims hold none that can be shown. */
export function profileName(claims: Claims): string | null {
  const names = [claims.name, claims.preferred_username, claims.email, claims.sub];
  return names.find((name): name is string => typeof name === "string" && isUsername(name))?.trim() ?? null;
}
