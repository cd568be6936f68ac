import { domainToASCII } from "node:url";
import type { AdapterConfig } from "@fieldgate/contract";
import { boundsProblems, isPlainObject } from "../config/bounds.ts";
import type { TenantPolicy } from "../config/policy.ts";
import { tenantPolicyBounds } from "../config/policy-bounds.ts";
import { Fault } from "../fault.ts";
import { parseAdapterConfigs, type UrlRules } from "./adapter-config.ts";
import { countryCodes } from "./countries.ts";

export interface TenantSettings {
  readonly adapters: readonly AdapterConfig[];
  /** Host names whose requests belong to this tenant: lower case, without a port. */
  readonly hosts: readonly string[];
  /** ISO 3166-1 alpha-2. */
  readonly defaultCountry?: string;
  readonly policy: TenantPolicy;
}

const refuse = (field: string, message: string): Fault => new Fault("invalid_request", { field, message });

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const hostPattern = new RegExp(`^${label}(?:\\.${label})*$`);

/** A host as `tenant_hosts` keeps it: ASCII, lower case, without port and final dot. Empty when it is none. */
export function normaliseHost(host: string): string {
  return domainToASCII(host.trim().replace(/:\d+$/, "").replace(/\.$/, "")).toLowerCase();
}

function parseHosts(input: unknown): string[] {
  if (!Array.isArray(input)) throw refuse("hosts", "hosts must be a list of host names.");
  const hosts = input.map((item: unknown, index) => {
    const field = `hosts[${index}]`;
    if (typeof item !== "string") throw refuse(field, `${field} must be a host name such as id.example.org.`);
    const host = normaliseHost(item);
    if (/[/:@\s]/.test(item.trim()) || host.length > 253 || !hostPattern.test(host)) {
      throw refuse(
        field,
        `${field} must be a host name such as id.example.org, without scheme or port: got "${item}".`,
      );
    }
    return host;
  });
  return [...new Set(hosts)];
}

function parseCountry(input: unknown): string {
  const country = typeof input === "string" ? input.trim().toUpperCase() : "";
  if (!countryCodes.has(country)) {
    throw refuse("defaultCountry", "defaultCountry must be the two letters of a country in ISO 3166-1, such as KE.");
  }
  return country;
}

function parsePolicy(input: unknown): TenantPolicy {
  const [problem] = boundsProblems(input, tenantPolicyBounds, "policy");
  if (problem) throw refuse(problem.field, problem.sentence);
  const policy = input as TenantPolicy;
  for (const kind of ["bound", "plain"] as const) {
    const { idle, absolute } = policy.sessions?.[kind] ?? {};
    if (idle !== undefined && absolute !== undefined && idle > absolute) {
      throw refuse(`policy.sessions.${kind}.idle`, `policy.sessions.${kind}.idle must not be longer than absolute.`);
    }
  }
  return policy;
}

const known = ["adapters", "hosts", "defaultCountry", "policy"];

/**
 * Settings as a tenant keeps them, from whatever a person wrote. Parts that are left out are empty.
 *
 * @throws Fault `invalid_request` that names the field and says what it may be.
 */
export function parseTenantSettings(input: unknown, rules: UrlRules): TenantSettings {
  if (!isPlainObject(input)) throw refuse("settings", "settings must be an object.");
  const unknown = Object.keys(input).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw refuse(unknown, `${unknown} is not a setting of a tenant: it has ${known.join(", ")}.`);
  const { adapters = [], hosts = [], defaultCountry, policy = {} } = input;
  return {
    adapters: parseAdapterConfigs(adapters, "adapters", rules),
    hosts: parseHosts(hosts),
    ...(defaultCountry !== undefined && { defaultCountry: parseCountry(defaultCountry) }),
    policy: parsePolicy(policy),
  };
}
