import type { OidcType } from "@fieldgate/contract";
import type { Clock } from "../clock.ts";
import type { Store } from "../store/store.ts";
import { type IdentityProvider, listProviders } from "./identity-providers.ts";

/** The identity providers as requests need them: read at most once a second, however many strange tokens come. */
export interface ProviderDirectory {
  find(tenantId: string, type: OidcType): Promise<IdentityProvider | null>;
  ofTenant(tenantId: string): Promise<readonly IdentityProvider[]>;
  /** Those a token with this `iss` may belong to. */
  withIssuer(issuer: string): Promise<readonly IdentityProvider[]>;
}

const keepMs = 1000;
/** A provider that was just added is there at once: what is missing is looked for again, but not for each strange token. */
const missMs = 50;

export function createProviderDirectory(store: Store, clock: Clock): ProviderDirectory {
  let kept: { readonly all: Promise<readonly IdentityProvider[]>; readonly readAt: number } | null = null;

  function all(ageMs: number): Promise<readonly IdentityProvider[]> {
    if (kept && clock.monotonic() - kept.readAt < ageMs) return kept.all;
    const reading = { all: listProviders(store), readAt: clock.monotonic() };
    kept = reading;
    // What could not be read is asked for again.
    reading.all.catch(() => {
      if (kept === reading) kept = null;
    });
    return reading.all;
  }

  async function matching(isMeant: (provider: IdentityProvider) => boolean): Promise<readonly IdentityProvider[]> {
    const known = (await all(keepMs)).filter(isMeant);
    return known.length > 0 ? known : (await all(missMs)).filter(isMeant);
  }

  return {
    async find(tenantId, type) {
      const [found] = await matching((provider) => provider.tenantId === tenantId && provider.type === type);
      return found ?? null;
    },
    ofTenant: (tenantId) => matching((provider) => provider.tenantId === tenantId),
    withIssuer: (issuer) => matching((provider) => provider.issuer === issuer.replace(/\/$/, "")),
  };
}
