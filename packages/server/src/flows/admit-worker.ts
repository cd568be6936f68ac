import type { IdentityProvider } from "../people/identity-providers.ts";
import { type Claims, claimAt, hasRequiredRole, mappedRoles, profileName } from "../people/provider-claims.ts";
import {
  addProviderWorker,
  findProviderWorker,
  type ProviderIdentity,
  updateProviderWorker,
} from "../people/provider-workers.ts";
import type { Worker } from "../people/workers.ts";
import type { Queries } from "../store/store.ts";
import type { ProviderClaims } from "../tokens/providers/provider-tokens.ts";

/** Why somebody whom the provider vouches for is not let in. */
export type Refusal = "disabled" | "not_provisioned";

export const identityOf = ({ tenantId, issuer }: IdentityProvider, { sub }: ProviderClaims): ProviderIdentity => ({
  tenantId,
  issuer,
  subject: sub,
});

/**
 * The worker whom the provider's claims are about, added at first sight where the tenant lets that happen. An account is
 * (issuer, subject) alone: it is never found by its email, which a provider may not have checked.
 *
 * @param source an ID token says all there is to say of a person; an access token may leave out what it is not for
 */
export async function admitWorker(
  tx: Queries,
  provider: IdentityProvider,
  claims: ProviderClaims,
  source: "id-token" | "access-token",
): Promise<Worker | Refusal> {
  const identity = identityOf(provider, claims);
  const known = await findProviderWorker(tx, identity);
  if (known && known.disabledAt !== null) return "disabled";
  if (!hasRequiredRole(claims, provider)) return "not_provisioned";
  if (!known && provider.provision === "invited") return "not_provisioned";
  const username = profileName(claims) ?? "worker";
  if (!known) {
    const { worker } = await addProviderWorker(tx, identity, { username, roles: mappedRoles(claims, provider) });
    return worker.disabledAt === null ? worker : "disabled";
  }
  if (source === "id-token") {
    return updateProviderWorker(tx, known, { username, roles: mappedRoles(claims, provider) });
  }
  const roles = says(claims, provider.rolesClaim) ? mappedRoles(claims, provider) : null;
  return updateProviderWorker(tx, known, { username: known.username, roles });
}

const says = (claims: Claims, path: string) => claimAt(claims, path) !== undefined;

/** How the provider says the person proved who they are (RFC 8176), as far as it can be passed on. */
export function methodsOf({ amr }: Claims): string[] {
  if (!Array.isArray(amr)) return [];
  return amr.filter((method) => typeof method === "string" && /^[\x21-\x7e]{1,32}$/.test(method)).slice(0, 8);
}
