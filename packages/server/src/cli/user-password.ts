import type { Command } from "commander";
import { setPassword } from "../people/workers.ts";
import { chosenTenant, demandWorker, type TenantOption, tenantOption } from "./choose.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { hashPassword, type PasswordOptions, passwordStdinOption, readNewPassword } from "./password-input.ts";
import { userAsJson } from "./user-view.ts";

export function addUserPasswordCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "password <username>", {
    summary: "set a new password and end the user's sessions",
    examples: [
      ["fieldgate user password amina --tenant kenya", "asks for the password, twice"],
      ["pass show amina | fieldgate user password amina --tenant kenya --password-stdin", "from a password manager"],
    ],
  })
    .option(...tenantOption)
    .option(...passwordStdinOption);
  onRun<TenantOption & PasswordOptions>(command, cli, async (run) => {
    const deployment = await run.deployment();
    const { store, config } = deployment;
    const tenant = await chosenTenant(deployment, run.options);
    const { username } = await demandWorker(store, tenant, run.args[0] ?? "");
    const hash = await hashPassword(await readNewPassword(cli, run.options, { username, tenant, config }));
    const worker = await store.transaction(async (tx) =>
      setPassword(tx, await demandWorker(tx, tenant, username), hash),
    );
    return { json: userAsJson(worker), text: `${worker.username} has a new password, and the sessions are ended.` };
  });
}
