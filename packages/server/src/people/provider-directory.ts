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

export function createProviderDirectory(store: Store, clock: Clock): ProviderDirectory {
  let kept: { readonly all: Promise<readonly IdentityProvider[]>; readonly until: number } | null = null;

  function all(): Promise<readonly IdentityProvider[]> {
    if (kept && kept.until > clock.monotonic()) return kept.all;
    const reading = { all: listProviders(store), until: clock.monotonic() + keepMs };
    kept = reading;
    // What could not be read is asked for again.
    reading.all.catch(() => {
      if (kept === reading) kept = null;
    });
    return reading.all;
  }

  return {
    async find(tenantId, type) {
      return (await all()).find((provider) => provider.tenantId === tenantId && provider.type === type) ?? null;
    },
    async ofTenant(tenantId) {
      return (await all()).filter((provider) => provider.tenantId === tenantId);
    },
    async withIssuer(issuer) {
      const plain = issuer.replace(/\/$/, "");
      return (await all()).filter((provider) => provider.issuer === plain);
    },
  };
}
