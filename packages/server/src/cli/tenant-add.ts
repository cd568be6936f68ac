import type { Command } from "commander";
import { addTenant } from "../people/tenants.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { addSettingsOptions, type SettingsOptions, settingsFrom, settingsNotes } from "./tenant-options.ts";
import { describeTenant, tenantAsJson } from "./tenant-view.ts";

interface Options extends SettingsOptions {
  readonly name?: string;
}

export function addTenantAddCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "add <tenant>", {
    summary: "add a tenant",
    notes: settingsNotes,
    examples: [
      ["fieldgate tenant add kenya --name 'Kenya Cash Transfer' --country KE", "a tenant whose workers have passwords"],
      [
        "fieldgate tenant add kenya --adapter oidc_b:authority=https://sso.example.org,client_id=field,realm=kenya",
        "a tenant with its own identity provider",
      ],
      ["fieldgate tenant add kenya --settings kenya.json", "everything from a file"],
    ],
  }).option("--name <text>", "its name, for people (default: the id)");
  addSettingsOptions(command);
  onRun<Options>(command, cli, async (run) => {
    const { config, store } = await run.deployment();
    const id = run.args[0] ?? "";
    const settings = await settingsFrom(cli, { adapters: [], hosts: [], policy: {} }, run.options, config.baseUrl);
    const rules = { loopbackHttp: config.mode === "development" };
    const tenant = await store.transaction((tx) =>
      addTenant(tx, { id, name: run.options.name ?? id, settings }, rules),
    );
    const ways =
      tenant.settings.adapters.length > 0
        ? ""
        : "Apps are offered no way in but a password yet. For citizens add: " +
          `fieldgate tenant set ${tenant.id} --adapter otp --adapter id\n`;
    const next = `${ways}Add its first user with: fieldgate user add USERNAME --tenant ${tenant.id} --role admin`;
    return { json: tenantAsJson(tenant), text: `Added.\n\n${describeTenant(tenant)}\n\n${next}` };
  });
}
