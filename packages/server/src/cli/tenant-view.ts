import type { Tenant } from "../people/tenants.ts";
import { formatTime, isoTime } from "./table.ts";

export function tenantAsJson({ id, name, settings, version, disabledAt }: Tenant): object {
  return { id, name, disabled: disabledAt !== null, disabledAt: isoTime(disabledAt), version, settings };
}

export function describeTenant({ id, name, settings, version, disabledAt }: Tenant): string {
  const { hosts, defaultCountry, adapters, identityProviders, policy, ...others } = settings;
  const lines = [
    `Tenant     ${id}`,
    `Name       ${name}`,
    `State      ${disabledAt === null ? "enabled" : `disabled since ${formatTime(disabledAt)}`}`,
    `Hosts      ${hosts.join(", ") || "-"}`,
    `Country    ${defaultCountry ?? "-"}`,
    `Adapters   ${adapters.length === 0 ? "-" : ""}`,
  ];
  for (const { type, fields } of adapters) {
    const shown = Object.entries(fields).map(([field, value]) => `${field}=${value}`);
    lines.push(`  ${type}: ${shown.join(", ")}`);
  }
  for (const [type, own] of Object.entries(identityProviders ?? {})) {
    lines.push(`  ${type} on the server: ${JSON.stringify(own)}`);
  }
  lines.push(`Policy     ${Object.keys(policy).length === 0 ? "the deployment's" : JSON.stringify(policy)}`);
  // Whatever else there is, now or later: nothing that is set is left unsaid.
  const set = Object.entries(others).filter(([, value]) => value !== undefined);
  lines.push(...set.map(([key, value]) => `${key}  ${JSON.stringify(value)}`));
  return [...lines, `Version    ${version}`].join("\n");
}
