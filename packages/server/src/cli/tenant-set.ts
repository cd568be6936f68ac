import type { Command } from "commander";
import type { TenantSettings } from "../people/tenants.ts";
import { updateTenant } from "../people/tenants.ts";
import { demandTenant } from "./choose.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { collect } from "./group.ts";
import { confirm } from "./prompt.ts";
import { addSettingsOptions, type SettingsOptions, settingsFrom, settingsNotes } from "./tenant-options.ts";
import { describeTenant, tenantAsJson } from "./tenant-view.ts";

interface Options extends SettingsOptions {
  readonly name?: string;
  readonly removeHost?: readonly string[];
  readonly removeAdapter?: readonly string[];
  readonly disable?: true;
  readonly enable?: true;
  readonly yes?: true;
}

export function addTenantSetCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "set <tenant>", {
    summary: "change a tenant; what is not named stays",
    notes: settingsNotes,
    examples: [
      ["fieldgate tenant set kenya --host id.kenya.example.org", "one more host"],
      [
        "fieldgate tenant set kenya --policy password.minLength=20 --policy sessions.allowPlain=false",
        "stricter rules",
      ],
      ["fieldgate tenant set kenya --policy password.minLength=default", "the deployment's number again"],
      ["fieldgate tenant set kenya --provider oidc_b:provision=invited", "only workers who were added before"],
      ["fieldgate tenant set kenya --disable", "close every way in and end its sessions"],
    ],
  })
    .option("--name <text>", "its name, for people")
    .option("--remove-host <name>", "take a host away (repeatable)", collect)
    .option("--remove-adapter <type>", "take a way in away (repeatable)", collect)
    .option("--disable", "close every way in and end all sessions of the tenant")
    .option("--enable", "open the tenant again")
    .option("--yes", "do not ask before --disable");
  addSettingsOptions(command);
  onRun<Options>(command, cli, async (run) => {
    const { options } = run;
    if (options.disable && options.enable) throw new CliFailure("Choose one of --disable and --enable.", 2);
    const { config, store } = await run.deployment();
    const before = await demandTenant(store, run.args[0] ?? "");
    const named = Object.keys(options).filter((name) => !["json", "config", "dev", "yes"].includes(name));
    if (named.length === 0) throw new CliFailure("Nothing to change: name at least one setting. See --help.", 2);
    if (options.disable && !options.yes) {
      await confirm(cli, `Disable ${before.id} and end all its sessions?`);
    }
    const kept = without(before.settings, options);
    const settings = await settingsFrom(cli, kept, options, config.baseUrl);
    const disabled = options.disable ? true : options.enable ? false : undefined;
    const change = {
      settings,
      version: before.version,
      ...(options.name !== undefined && { name: options.name }),
      ...(disabled !== undefined && { disabled }),
    };
    const rules = { loopbackHttp: config.mode === "development" };
    const tenant = await store.transaction((tx) => updateTenant(tx, before.id, change, rules));
    return { json: tenantAsJson(tenant), text: `Changed.\n\n${describeTenant(tenant)}` };
  });
}

function without(settings: TenantSettings, { removeHost = [], removeAdapter = [] }: Options): TenantSettings {
  const hosts = removeHost.map((host) => host.toLowerCase());
  const strangeHost = hosts.find((host) => !settings.hosts.includes(host));
  if (strangeHost !== undefined) throw new CliFailure(`The tenant does not have the host "${strangeHost}".`);
  const strange = removeAdapter.find((type) => !settings.adapters.some((adapter) => adapter.type === type));
  if (strange !== undefined) throw new CliFailure(`The tenant does not have an adapter "${strange}".`);
  const { identityProviders, ...others } = settings;
  const kept = Object.entries(identityProviders ?? {}).filter(([type]) => !removeAdapter.includes(type));
  return {
    ...others,
    ...(kept.length > 0 && { identityProviders: Object.fromEntries(kept) }),
    hosts: settings.hosts.filter((host) => !hosts.includes(host)),
    adapters: settings.adapters.filter((adapter) => !removeAdapter.includes(adapter.type)),
  };
}
