import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import type { AdapterConfig } from "@fieldgate/contract";
import { boundsProblems, isPlainObject } from "../config/bounds.ts";
import type { TenantPolicy } from "../config/policy.ts";
import { tenantPolicyBounds } from "../config/policy-bounds.ts";
import { Fault } from "../fault.ts";
import { parseAdapterConfigs, type UrlRules } from "./adapter-config.ts";
import {
  type DeliverySettings,
  type OtpSettings,
  parseCountry,
  parseDelivery,
  parseNationalId,
  parseOtp,
  parseQr,
  type QrSettings,
} from "./citizen-settings.ts";
import type { NationalIdSettings } from "./national-id-rules.ts";
import { type IdentityProviderSettings, parseIdentityProviders } from "./provider-settings.ts";

export interface TenantSettings {
  readonly adapters: readonly AdapterConfig[];
  /** What clients need not know of the identity providers among them. */
  readonly identityProviders?: IdentityProviderSettings;
  /** Host names whose requests belong to this tenant: lower case, without a port. */
  readonly hosts: readonly string[];
  /** ISO 3166-1 alpha-2. */
  readonly defaultCountry?: string;
  /** Address ranges in CIDR form behind which many people sit: a kiosk, a carrier. Ceilings per network spare them. */
  readonly sharedNetworks?: readonly string[];
  readonly otp?: OtpSettings;
  readonly nationalId?: NationalIdSettings;
  readonly qr?: QrSettings;
  readonly delivery?: DeliverySettings;
  readonly retention?: RetentionSettings;
  readonly sync?: SyncSettings;
  readonly policy: TenantPolicy;
}

export interface RetentionSettings {
  /** Disabled people are erased after so many days. */
  readonly disabledAfterDays?: number;
}

export interface SyncSettings {
  /**
   * Who may change a sign-in identifier or a birth date through an event. `propose`: a supervisor accepts every change.
   * `supervisors`: what supervisors and admins push themselves holds at once.
   */
  readonly identifierChanges?: "propose" | "supervisors";
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

function parseNetworks(input: unknown): string[] {
  const field = "sharedNetworks";
  if (!Array.isArray(input)) throw refuse(field, `${field} must be a list of ranges such as 203.0.113.0/24.`);
  return input.map((item: unknown, index) => {
    const [address = "", bits = ""] = typeof item === "string" ? item.trim().split("/") : [];
    const most = { 4: 32, 6: 128 }[isIP(address)];
    if (most === undefined || !/^\d{1,3}$/.test(bits) || Number(bits) > most) {
      throw refuse(`${field}[${index}]`, `${field}[${index}] must be a range such as 203.0.113.0/24.`);
    }
    return `${address}/${bits}`;
  });
}

function parseRetention(input: unknown): RetentionSettings {
  const [problem] = boundsProblems(input, { disabledAfterDays: { min: 1, max: 36_500 } }, "retention");
  if (problem) throw refuse(problem.field, problem.sentence);
  return input as RetentionSettings;
}

function parseSync(input: unknown): SyncSettings {
  const { identifierChanges, ...others } = isPlainObject(input) ? input : { identifierChanges: input };
  const isKnown = identifierChanges === "propose" || identifierChanges === "supervisors";
  if (Object.keys(others).length > 0 || !isKnown) {
    throw refuse("sync.identifierChanges", "sync has one setting, identifierChanges, which is propose or supervisors.");
  }
  return { identifierChanges };
}

const known = [
  "adapters",
  "identityProviders",
  "hosts",
  "defaultCountry",
  "sharedNetworks",
  "otp",
  "nationalId",
  "qr",
  "delivery",
  "retention",
  "sync",
  "policy",
];

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
  const {
    adapters: givenAdapters = [],
    identityProviders,
    hosts = [],
    defaultCountry,
    sharedNetworks,
    otp,
    nationalId,
    qr,
    delivery,
    retention,
    sync,
    policy = {},
  } = input;
  const adapters = parseAdapterConfigs(givenAdapters, "adapters", rules);
  return {
    adapters,
    ...(identityProviders !== undefined && {
      identityProviders: parseIdentityProviders(identityProviders, adapters),
    }),
    hosts: parseHosts(hosts),
    ...(defaultCountry !== undefined && { defaultCountry: parseCountry(defaultCountry) }),
    ...(sharedNetworks !== undefined && { sharedNetworks: parseNetworks(sharedNetworks) }),
    ...(otp !== undefined && { otp: parseOtp(otp) }),
    ...(nationalId !== undefined && { nationalId: parseNationalId(nationalId) }),
    ...(qr !== undefined && { qr: parseQr(qr) }),
    ...(delivery !== undefined && { delivery: parseDelivery(delivery) }),
    ...(retention !== undefined && { retention: parseRetention(retention) }),
    ...(sync !== undefined && { sync: parseSync(sync) }),
    policy: parsePolicy(policy),
  };
}
