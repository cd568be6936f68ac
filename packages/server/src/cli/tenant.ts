import type { Command } from "commander";
import { listTenants } from "../people/tenants.ts";
import { demandTenant } from "./choose.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { defineGroup } from "./group.ts";
import { formatTable } from "./table.ts";
import { addTenantAddCommand } from "./tenant-add.ts";
import { addTenantSecretCommand } from "./tenant-secret.ts";
import { addTenantSetCommand } from "./tenant-set.ts";
import { describeTenant, tenantAsJson } from "./tenant-view.ts";

export function addTenantCommands(program: Command, cli: CliContext): void {
  const group = defineGroup(program, "tenant", "add, show and change tenants");
  addTenantAddCommand(group, cli);
  addTenantListCommand(group, cli);
  addTenantShowCommand(group, cli);
  addTenantSetCommand(group, cli);
  addTenantSecretCommand(group, cli);
}

function addTenantListCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "list", {
    summary: "list the tenants",
    examples: [["fieldgate tenant list", "all tenants"]],
  });
  onRun(command, cli, async (run) => {
    const { store } = await run.deployment();
    const tenants = await listTenants(store);
    const rows = tenants.map(({ id, name, settings, disabledAt }) => [
      id,
      name,
      disabledAt === null ? "enabled" : "disabled",
      settings.adapters.map((adapter) => adapter.type).join(" ") || "-",
      settings.hosts.join(" ") || "-",
    ]);
    const text =
      rows.length === 0
        ? "There is no tenant yet. Add one with `fieldgate tenant add`."
        : formatTable(["TENANT", "NAME", "STATE", "ADAPTERS", "HOSTS"], rows);
    return { json: tenants.map(tenantAsJson), text };
  });
}

function addTenantShowCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "show <tenant>", {
    summary: "show a tenant and its settings",
    examples: [
      ["fieldgate tenant show kenya", "for reading"],
      ["fieldgate tenant show kenya --json", "for a program"],
    ],
  });
  onRun(command, cli, async (run) => {
    const { store } = await run.deployment();
    const tenant = await demandTenant(store, run.args[0] ?? "");
    return { json: tenantAsJson(tenant), text: describeTenant(tenant) };
  });
}
