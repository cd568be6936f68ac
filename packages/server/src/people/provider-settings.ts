import {
  type AdapterConfig,
  type OidcType,
  oidcAliases,
  oidcTypes,
  type WorkerRole,
  workerRoles,
} from "@fieldgate/contract";
import { isPlainObject } from "../config/bounds.ts";
import { Fault } from "../fault.ts";

/** What the server alone knows of a tenant's identity provider; no client ever reads it. */
export interface ProviderSettings {
  /** A role at the provider without which nobody is let in. */
  readonly requiredRole?: string;
  /** The claim with the roles: its exact name, or a path such as `realm_access.roles`. */
  readonly rolesClaim?: string;
  /** Roles at the provider and what each makes a worker here. Without it everyone is a field worker at first. */
  readonly roleMapping?: Readonly<Record<string, WorkerRole>>;
  /** `first-sight`: whoever the provider lets in is a worker; `invited`: only those who were added before. */
  readonly provision?: (typeof provisions)[number];
  /** The client that asks the provider about opaque tokens, where it is not the one that signs people in. */
  readonly introspectionClient?: string;
}

export type IdentityProviderSettings = Readonly<Partial<Record<OidcType, ProviderSettings>>>;

const provisions = ["first-sight", "invited"] as const;
const known = ["requiredRole", "rolesClaim", "roleMapping", "provision", "introspectionClient"];
const longestText = 256;
const mostRoles = 100;

const refuse = (field: string, message: string): Fault => new Fault("invalid_request", { field, message });

/** The settings of the identity providers among a tenant's adapters, by type. */
export function parseIdentityProviders(input: unknown, adapters: readonly AdapterConfig[]): IdentityProviderSettings {
  if (!isPlainObject(input)) throw refuse("identityProviders", "identityProviders must be an object.");
  const parsed: Partial<Record<OidcType, ProviderSettings>> = {};
  for (const [key, settings] of Object.entries(input)) {
    const field = `identityProviders.${key}`;
    const type = Object.hasOwn(oidcAliases, key)
      ? oidcAliases[key as keyof typeof oidcAliases]
      : oidcTypes.find((each) => each === key);
    if (!type) throw refuse(field, `${field} is not known: it has ${oidcTypes.join(" and ")}.`);
    if (parsed[type]) throw refuse(field, `identityProviders has ${type} twice. Keep one of them.`);
    if (!adapters.some((adapter) => adapter.type === type)) {
      throw refuse(field, `${field} has settings, but the tenant has no adapter ${type}. Add it, or leave these out.`);
    }
    parsed[type] = parseProvider(settings, field);
  }
  return parsed;
}

function parseProvider(input: unknown, path: string): ProviderSettings {
  if (!isPlainObject(input)) throw refuse(path, `${path} must be an object.`);
  const unknown = Object.keys(input).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    const more = /secret/i.test(unknown) ? " A client secret is set with `fieldgate tenant secret`." : "";
    throw refuse(`${path}.${unknown}`, `${path}.${unknown} is not known: it has ${known.join(", ")}.${more}`);
  }
  for (const name of ["requiredRole", "rolesClaim", "introspectionClient"]) {
    if (input[name] !== undefined && !isText(input[name])) {
      throw refuse(`${path}.${name}`, `${path}.${name} must be a text of 1 to ${longestText} characters.`);
    }
  }
  const { provision, roleMapping } = input;
  if (provision !== undefined && !provisions.some((each) => each === provision)) {
    throw refuse(`${path}.provision`, `${path}.provision must be ${provisions.join(" or ")}.`);
  }
  if (roleMapping !== undefined) checkMapping(roleMapping, `${path}.roleMapping`);
  return input as ProviderSettings;
}

function checkMapping(input: unknown, path: string): void {
  if (!isPlainObject(input)) {
    throw refuse(path, `${path} must be an object such as {"team-leads":"supervisor"}.`);
  }
  const entries = Object.entries(input);
  if (entries.length > mostRoles) throw refuse(path, `${path} has more than ${mostRoles} roles.`);
  for (const [name, role] of entries) {
    if (!isText(name)) throw refuse(path, `${path} has a role without a name, or with one that is too long.`);
    if (!workerRoles.some((each) => each === role)) {
      throw refuse(`${path}.${name}`, `${path}.${name} must be one of ${workerRoles.join(", ")}.`);
    }
  }
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "" && value.length <= longestText && !/\p{Cc}/u.test(value);
}
