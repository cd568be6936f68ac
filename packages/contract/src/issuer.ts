import type { AdapterConfig } from "./tenant.ts";

const withoutSlash = (url: string) => url.replace(/\/+$/, "");

/**
 * The issuer that a provider's fields name, without a slash at its end: `{authority}/realms/{realm}` for `oidc_b`,
 * unless the authority already ends so; for `oidc_a` the authority itself. What an `oidc_a` provider calls itself in its
 * discovery document may have one slash more, as Auth0's does; tokens must then have it too.
 */
export function issuerOf({ type, fields }: AdapterConfig): string {
  const authority = withoutSlash(fields.authority ?? "");
  if (type !== "oidc_b") return authority;
  const realm = `/realms/${encodeURIComponent(fields.realm ?? "")}`;
  return authority.endsWith(realm) ? authority : `${authority}${realm}`;
}

/** Whether a discovery document with this `issuer` is the one of the provider. */
export function isIssuerOf(adapter: AdapterConfig, issuer: string): boolean {
  const expected = issuerOf(adapter);
  return issuer === expected || (adapter.type === "oidc_a" && issuer === `${expected}/`);
}

/** Where the discovery document of a provider lies. */
export function discoveryUrlOf(adapter: AdapterConfig): string {
  return `${issuerOf(adapter)}/.well-known/openid-configuration`;
}
