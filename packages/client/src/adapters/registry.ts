import { ConfigurationError } from "../errors.ts";
import { checkUrl } from "../urls.ts";
import type { AdapterConfig, AdapterContext, AdapterFactory, AuthAdapter } from "./adapter.ts";

type Adapter = new (config: AdapterConfig, context: AdapterContext) => AuthAdapter;

/** An adapter whose code is loaded when a configuration names it. The configuration is checked at once. */
function lazy(load: () => Promise<Adapter>, membership?: string): AdapterFactory {
  return (config, context) => {
    const { type, fields } = config;
    if (membership) {
      // An identity provider is none of our services: no token of ours goes there.
      checkUrl(`${type}.authority`, fields?.authority);
      for (const name of ["client_id", membership]) {
        if (!fields[name]) throw new ConfigurationError(`${type}.${name}`, "is missing");
      }
    } else {
      // Connecting checks the URL, and makes the service known before the adapter is loaded.
      context.connect(fields?.serverUrl);
    }
    return load().then((Loaded) => new Loaded(config, context));
  };
}

const oidc = async () => (await import("./oidc.ts")).OidcAuthAdapter;

/** The adapters by their keys. */
const registry = new Map<string, AdapterFactory>([
  ["password", async (_, context) => new (await import("../renewal/renewal.ts")).PasswordAuthAdapter(context)],
  ["otp", lazy(async () => (await import("./otp.ts")).OtpAuthAdapter)],
  ["id", lazy(async () => (await import("./id.ts")).IdAuthAdapter)],
  ["oidc_a", lazy(oidc, "organization")],
  ["auth0", lazy(oidc, "organization")],
  ["oidc_b", lazy(oidc, "realm")],
  ["keycloak", lazy(oidc, "realm")],
]);

export function registerAdapter(key: string, factory: AdapterFactory): void {
  if (registry.has(key)) throw new ConfigurationError("key", `"${key}" is taken`);
  registry.set(key, factory);
}

export function findAdapter(field: string, type: string): AdapterFactory {
  const factory = registry.get(type);
  if (factory) return factory;
  throw new ConfigurationError(field, `"${type}" is none of ${[...registry.keys()].join(", ")}`);
}
