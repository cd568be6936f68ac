import type { Clock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { type IdentityProvider, listProviders } from "../people/identity-providers.ts";
import type { Store } from "../store/store.ts";
import { createProviderFetch, type FetchFailure, ProviderFetchError } from "../tokens/providers/provider-fetch.ts";
import { loadProvider } from "../tokens/providers/provider-keys.ts";
import { sourceOf } from "../tokens/providers/provider-tokens.ts";
import { bad, type Finding, ok, warn } from "./doctor-finding.ts";

const remedies: Readonly<Record<FetchFailure, string>> = {
  url_refused: "The authority must be an https address.",
  address_refused: "If it is meant, list its host in FIELDGATE_INTERNAL_HOSTS; else correct the authority.",
  not_found: "See that the authority is spelt right.",
  unreachable: "See that it runs, that this machine may reach it, and that its certificate is good.",
  timed_out: "See that it runs and answers within 5 seconds.",
  redirected: "Set the authority to the address that it leads to.",
  status: "See that the authority, and for oidc_b the realm, are spelt right.",
  too_large: "See that the authority is that of an identity provider.",
  not_json: "See that the authority is that of an identity provider.",
  wrong_issuer: "Set the authority exactly to what the provider calls its issuer.",
  unusable_keys: "See that the provider signs with RSA, EC or Ed25519 keys and publishes them.",
};

/** Each identity provider is asked for its discovery document and its keys, as the service would ask. */
export async function checkProviders(store: Store, config: Config, clock: Clock): Promise<Finding[]> {
  const fetch = createProviderFetch({ ...config, loopback: config.mode === "development" });
  const bySource = Map.groupBy(await listProviders(store), ({ type, issuer }) => `${type} ${issuer}`);
  const findings = [...bySource.values()].map(async (providers): Promise<Finding> => {
    const [first] = providers as [IdentityProvider];
    const tenants = providers.map(({ tenantId }) => tenantId).join(", ");
    try {
      await loadProvider(fetch, sourceOf(first), clock);
      return ok("providers", `${first.issuer} can be used, by ${tenants}.`);
    } catch (error) {
      if (!(error instanceof ProviderFetchError)) throw error;
      const sentence = `${first.issuer} of ${tenants}: ${error.reason}. ${error.message}`;
      // One tenant's provider that is away is no reason to take the whole service for broken.
      const isPassing = ["not_found", "timed_out", "unreachable", "status"].includes(error.reason);
      return (isPassing ? warn : bad)("providers", sentence, remedies[error.reason]);
    }
  });
  return Promise.all(findings);
}
