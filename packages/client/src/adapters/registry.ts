import { ConfigurationError } from "../errors.ts";
import type { AdapterConfig, AdapterContext, AdapterFactory, AuthAdapter } from "./adapter.ts";

/** An adapter that speaks to a service: connecting checks its URL, and makes it known before the adapter is loaded. */
function onServer(
  load: () => Promise<new (config: AdapterConfig, context: AdapterContext) => AuthAdapter>,
): AdapterFactory {
  return (config, context) => {
    context.connect(config.fields?.serverUrl);
    return load().then((Adapter) => new Adapter(config, context));
  };
}

/** The adapters by their keys. Their code is loaded when a configuration names them. */
const registry = new Map<string, AdapterFactory>([
  ["password", async (_, context) => new (await import("../renewal/renewal.ts")).PasswordAuthAdapter(context)],
  ["otp", onServer(async () => (await import("./otp.ts")).OtpAuthAdapter)],
  ["id", onServer(async () => (await import("./id.ts")).IdAuthAdapter)],
]);

/** Keys of the specification that are not for others to take. */
const reserved = ["oidc_a", "oidc_b", "auth0", "keycloak"];

export function registerAdapter(key: string, factory: AdapterFactory): void {
  if (registry.has(key) || reserved.includes(key)) {
    throw new ConfigurationError("key", `"${key}" is taken: choose a new one`);
  }
  registry.set(key, factory);
}

export function findAdapter(field: string, type: string): AdapterFactory {
  const factory = registry.get(type);
  if (factory) return factory;
  throw new ConfigurationError(field, `"${type}" is not registered; there are ${[...registry.keys()].join(", ")}`);
}
