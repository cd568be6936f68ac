import { ConfigurationError } from "../errors.ts";
import type { AdapterConfig, AdapterContext, AdapterFactory } from "./adapter.ts";

/** Connecting checks the URL, and makes the service known before its adapter is loaded. */
const needsServerUrl = ({ fields }: AdapterConfig, context: AdapterContext) => context.connect(fields?.serverUrl);

/** The adapters by their keys. Their code is loaded when a configuration names them, their fields are checked at once. */
const registry = new Map<string, AdapterFactory>([
  [
    "password",
    (_config, context) =>
      import("../renewal/renewal.ts").then(({ PasswordAuthAdapter }) => new PasswordAuthAdapter(context)),
  ],
  [
    "otp",
    (config, context) => {
      needsServerUrl(config, context);
      return import("./otp.ts").then(({ OtpAuthAdapter }) => new OtpAuthAdapter(config, context));
    },
  ],
  [
    "id",
    (config, context) => {
      needsServerUrl(config, context);
      return import("./id.ts").then(({ IdAuthAdapter }) => new IdAuthAdapter(config, context));
    },
  ],
]);

/** Keys of the specification that are not for others to take. */
const reserved = ["oidc_a", "oidc_b", "auth0", "keycloak"];

export function registerAdapter(key: string, factory: AdapterFactory): void {
  if (registry.has(key) || reserved.includes(key)) {
    throw new ConfigurationError("key", `"${key}" is taken; register your adapter under a new key`);
  }
  registry.set(key, factory);
}

export function findAdapter(field: string, type: string): AdapterFactory {
  const factory = registry.get(type);
  if (factory) return factory;
  throw new ConfigurationError(
    field,
    `no adapter is registered as "${type}"; there are ${[...registry.keys()].join(", ")}`,
  );
}
