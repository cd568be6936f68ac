import type { Command } from "commander";
import { disableWorker, enableWorker, listWorkers } from "../people/workers.ts";
import { chosenTenant, demandWorker, type TenantOption, tenantOption } from "./choose.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { defineGroup } from "./group.ts";
import { formatTable } from "./table.ts";
import { addUserAddCommand } from "./user-add.ts";
import { addUserInviteCommand } from "./user-invite.ts";
import { addUserPasswordCommand } from "./user-password.ts";
import { addUserUnlockCommand } from "./user-unlock.ts";
import { userAsJson } from "./user-view.ts";

export function addUserCommands(program: Command, cli: CliContext): void {
  const group = defineGroup(program, "user", "add field workers, change their passwords and state");
  addUserAddCommand(group, cli);
  addUserInviteCommand(group, cli);
  addUserListCommand(group, cli);
  addUserPasswordCommand(group, cli);
  addUserDisableCommand(group, cli);
  addUserEnableCommand(group, cli);
  addUserUnlockCommand(group, cli);
}

function addUserListCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "list", {
    summary: "list the users of a tenant",
    examples: [["fieldgate user list --tenant kenya", "all users of a tenant"]],
  }).option(...tenantOption);
  onRun<TenantOption>(command, cli, async (run) => {
    const deployment = await run.deployment();
    const tenant = await chosenTenant(deployment, run.options);
    const workers = await listWorkers(deployment.store, tenant.id);
    const rows = workers.map(({ username, roles, disabledAt, passwordHash, id }) => [
      username,
      roles.join(" "),
      disabledAt === null ? "enabled" : "disabled",
      passwordHash === null ? "no" : "yes",
      id,
    ]);
    const text =
      rows.length === 0
        ? `The tenant ${tenant.id} has no user yet. Add one with \`fieldgate user add\`.`
        : formatTable(["USERNAME", "ROLES", "STATE", "PASSWORD", "ID"], rows);
    return { json: workers.map(userAsJson), text };
  });
}

function addUserDisableCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "disable <username>", {
    summary: "close every way in for a user and end the sessions",
    examples: [["fieldgate user disable amina --tenant kenya", "at once for refresh, within 5 s for every token"]],
  }).option(...tenantOption);
  onRun<TenantOption>(command, cli, async (run) => {
    const deployment = await run.deployment();
    const tenant = await chosenTenant(deployment, run.options);
    const { changed, worker } = await deployment.store.transaction(async (tx) => {
      const before = await demandWorker(tx, tenant, run.args[0] ?? "");
      const worker = await disableWorker(tx, before);
      return { changed: worker !== before, worker };
    });
    const text = changed
      ? `${worker.username} is disabled, and the sessions are ended.`
      : `${worker.username} was disabled already.`;
    return { json: { ...userAsJson(worker), changed }, text };
  });
}

function addUserEnableCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "enable <username>", {
    summary: "let a disabled user in again",
    examples: [["fieldgate user enable amina --tenant kenya", "ended sessions stay ended"]],
  }).option(...tenantOption);
  onRun<TenantOption>(command, cli, async (run) => {
    const deployment = await run.deployment();
    const tenant = await chosenTenant(deployment, run.options);
    const { changed, worker } = await deployment.store.transaction(async (tx) => {
      const before = await demandWorker(tx, tenant, run.args[0] ?? "");
      const worker = await enableWorker(tx, before);
      return { changed: worker !== before, worker };
    });
    const text = changed ? `${worker.username} may sign in again.` : `${worker.username} was not disabled.`;
    return { json: { ...userAsJson(worker), changed }, text };
  });
}
