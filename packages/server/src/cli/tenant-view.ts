import type { Tenant } from "../people/tenants.ts";
import { formatTime, isoTime } from "./table.ts";

export function tenantAsJson({ id, name, settings, version, disabledAt }: Tenant): object {
  return { id, name, disabled: disabledAt !== null, disabledAt: isoTime(disabledAt), version, settings };
}

export function describeTenant({ id, name, settings, version, disabledAt }: Tenant): string {
  const lines = [
    `Tenant     ${id}`,
    `Name       ${name}`,
    `State      ${disabledAt === null ? "enabled" : `disabled since ${formatTime(disabledAt)}`}`,
    `Hosts      ${settings.hosts.join(", ") || "-"}`,
    `Country    ${settings.defaultCountry ?? "-"}`,
    `Adapters   ${settings.adapters.length === 0 ? "-" : ""}`,
  ];
  for (const { type, fields } of settings.adapters) {
    const shown = Object.entries(fields).map(([field, value]) => `${field}=${value}`);
    lines.push(`  ${type}: ${shown.join(", ")}`);
  }
  for (const [type, own] of Object.entries(settings.identityProviders ?? {})) {
    lines.push(`  ${type} on the server: ${JSON.stringify(own)}`);
  }
  const policy = Object.keys(settings.policy).length === 0 ? "the deployment's" : JSON.stringify(settings.policy);
  return [...lines, `Policy     ${policy}`, `Version    ${version}`].join("\n");
}
