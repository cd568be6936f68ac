import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { oidcAliases } from "@fieldgate/contract";
import type { Command } from "commander";
import { isPlainObject } from "../config/bounds.ts";
import type { TenantSettings } from "../people/tenants.ts";
import { CliFailure } from "./cli-failure.ts";
import type { CliContext } from "./context.ts";
import { collect } from "./group.ts";
import { readStdin } from "./prompt.ts";

export interface SettingsOptions {
  readonly settings?: string;
  readonly host?: readonly string[];
  readonly country?: string;
  readonly adapter?: readonly string[];
  readonly provider?: readonly string[];
  readonly policy?: readonly string[];
}

export function addSettingsOptions(command: Command): Command {
  return command
    .option("--host <name>", "a host name whose requests belong to the tenant (repeatable)", collect)
    .option("--country <code>", "the default country of phone numbers, such as KE")
    .option("--adapter <spec>", "a way in, as TYPE:field=value,field=value (repeatable)", collect)
    .option("--provider <spec>", "what the server alone knows of an identity provider (repeatable)", collect)
    .option("--policy <path=value>", "a number of its own, such as password.minLength=20 (repeatable)", collect)
    .option("--settings <file>", "all settings as JSON from a file, or - for stdin");
}

export const settingsNotes = `Adapters and their fields (none of them is secret):
  oidc_a   authority, client_id, organization     (auth0 is another name for it)
  oidc_b   authority, client_id, realm            (keycloak is another name for it)
  otp, id  serverUrl                              (default: the base URL of this service)
An oidc adapter may have an audience: JWT access tokens for it are then accepted too.

Identity providers, as --provider TYPE:setting=value,… (a value of default takes the setting away):
  provision=invited       only workers whom \`user invite\` has added (else: first-sight)
  requiredRole=NAME       a role at the provider without which nobody is let in
  rolesClaim=PATH         the claim with the roles: realm_access.roles, roles, https://example.org/roles
  role.NAME=supervisor    what a role at the provider makes a worker here
  introspectionClient=ID  who asks about opaque tokens; its secret is set with \`tenant secret\``;

/** `TYPE:field=value,…`; the service's own address is the default of `serverUrl`. */
export function parseAdapterOption(spec: string, baseUrl: string): { type: string; fields: Record<string, string> } {
  const [type = "", ...rest] = spec.split(":");
  const parts = rest
    .join(":")
    .split(",")
    .filter((part) => part.trim() !== "");
  const fields = parts.map((part) => {
    const at = part.indexOf("=");
    if (at < 1) {
      throw new CliFailure(
        `--adapter must look like oidc_b:authority=https://…,client_id=…,realm=…: "${part}" has no =.`,
        2,
      );
    }
    return [part.slice(0, at).trim(), part.slice(at + 1).trim()];
  });
  const defaults = type === "otp" || type === "id" ? { serverUrl: baseUrl } : {};
  return { type, fields: { ...defaults, ...Object.fromEntries(fields) } };
}

type Tree = { [key: string]: unknown };

/** Sets `a.b.c=value` in a copy of the policy; `default` takes the number away. */
export function withPolicyOption(policy: object, option: string): Tree {
  const [path = "", text] = option.split("=");
  const keys = path.split(".");
  if (text === undefined || keys.some((key) => key === "")) {
    throw new CliFailure(`--policy must look like password.minLength=20: got "${option}".`, 2);
  }
  const value = text === "true" ? true : text === "false" ? false : /^\d+$/.test(text) ? Number(text) : text;
  return change(policy as Tree, keys, text === "default" ? undefined : value);
}

function change(tree: Tree, [key = "", ...rest]: readonly string[], value: unknown): Tree {
  const below = Object.hasOwn(tree, key) ? tree[key] : undefined;
  const inner = rest.length === 0 ? value : change(isPlainObject(below) ? below : {}, rest, value);
  const kept = Object.entries(tree).filter(([name]) => name !== key);
  const isEmpty = inner === undefined || (isPlainObject(inner) && Object.keys(inner).length === 0);
  return Object.fromEntries(isEmpty ? kept : [...kept, [key, inner]]);
}

function canonicalType(type: string): string {
  return Object.hasOwn(oidcAliases, type) ? oidcAliases[type as keyof typeof oidcAliases] : type;
}

/** `TYPE:setting=value,…`; `role.NAME=ROLE` is an entry of the mapping, and `default` takes a setting away. */
export function withProviderOption(providers: object, option: string): Tree {
  const at = option.indexOf(":");
  const pairs = option
    .slice(at + 1)
    .split(",")
    .map((pair) => /^\s*(role\.(?=.)|)([^=]+)=(.*)$/s.exec(pair));
  if (at < 1 || pairs.some((pair) => pair === null)) {
    throw new CliFailure(`--provider must look like oidc_b:provision=invited,requiredRole=field: got "${option}".`, 2);
  }
  const type = canonicalType(option.slice(0, at));
  return pairs.reduce<Tree>((tree, pair) => {
    const [, isRole, name = "", value = ""] = pair ?? [];
    const keys = isRole ? ["roleMapping", name.trim()] : [name.trim()];
    return change(tree, [type, ...keys], value.trim() === "default" ? undefined : value.trim());
  }, providers as Tree);
}

/** The settings with the options applied; the people's part checks them. */
export async function settingsFrom(
  cli: CliContext,
  before: TenantSettings,
  options: SettingsOptions,
  baseUrl: string,
): Promise<unknown> {
  const { settings, host, country, adapter, provider, policy } = options;
  if (settings !== undefined) {
    if (host ?? country ?? adapter ?? provider ?? policy) {
      const others = "--host, --country, --adapter, --provider and --policy";
      throw new CliFailure(`--settings holds everything: leave ${others} out.`, 2);
    }
    return readJson(cli, settings);
  }
  const adapters = (adapter ?? []).map((spec) => parseAdapterOption(spec, baseUrl));
  const replaced = new Set(adapters.map(({ type }) => canonicalType(type)));
  return {
    ...before,
    hosts: [...before.hosts, ...(host ?? [])],
    ...(country !== undefined && { defaultCountry: country }),
    adapters: [...before.adapters.filter(({ type }) => !replaced.has(type)), ...adapters],
    ...(provider && {
      identityProviders: provider.reduce<object>(withProviderOption, before.identityProviders ?? {}),
    }),
    policy: (policy ?? []).reduce<object>(withPolicyOption, before.policy),
  };
}

async function readJson(cli: CliContext, file: string): Promise<unknown> {
  try {
    return JSON.parse(file === "-" ? await readStdin(cli, "settings") : readFileSync(resolve(cli.cwd, file), "utf8"));
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliFailure(`--settings ${file} cannot be used: ${reason}`);
  }
}
