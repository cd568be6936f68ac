import { type OidcType, oidcAliases, oidcTypes } from "@fieldgate/contract";
import type { Tenant } from "../people/tenants.ts";
import { CliFailure } from "./cli-failure.ts";

export const providerOption = ["--provider <type>", "oidc_a or oidc_b (default: the one that the tenant has)"] as const;

/** The identity provider of a tenant that an option names, or the only one there is. */
export function demandProviderType(tenant: Tenant, given: string | undefined): OidcType {
  const types = oidcTypes.filter((type) => tenant.settings.adapters.some((adapter) => adapter.type === type));
  const wanted = given !== undefined && Object.hasOwn(oidcAliases, given) ? oidcAliases[given as "auth0"] : given;
  const type = wanted === undefined && types.length === 1 ? types[0] : types.find((each) => each === wanted);
  if (type) return type;
  if (types.length === 0)
    throw new CliFailure(`The tenant ${tenant.id} has no identity provider. Add one with --adapter.`);
  throw new CliFailure(`Say which identity provider: --provider ${types.join(" or --provider ")}.`, 2);
}
