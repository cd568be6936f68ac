import { workerRoles } from "@fieldgate/contract";
import type { Command } from "commander";
import { didYouMean } from "../config/suggest.ts";
import { checkUsername } from "../people/username.ts";
import { addWorker, findWorker } from "../people/workers.ts";
import { chosenTenant, type TenantOption, tenantOption } from "./choose.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { collect } from "./group.ts";
import { hashPassword, type PasswordOptions, passwordStdinOption, readNewPassword } from "./password-input.ts";
import { userAsJson } from "./user-view.ts";

interface Options extends TenantOption, PasswordOptions {
  readonly role?: readonly string[];
  /** Commander's `--no-password` makes this false. */
  readonly password: boolean;
}

export function addUserAddCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "add <username>", {
    summary: "add a field worker, supervisor or admin",
    examples: [
      ["fieldgate user add amina --tenant kenya", "asks for the password, twice"],
      ["fieldgate user add amina --tenant kenya --role supervisor --role field-worker", "with two roles"],
      ["pass show amina | fieldgate user add amina --tenant kenya --password-stdin", "from a password manager"],
    ],
  })
    .option(...tenantOption)
    .option("--role <role>", `${workerRoles.join(", ")} (repeatable; default field-worker)`, collect)
    .option(...passwordStdinOption)
    .option("--no-password", "for someone who signs in through an identity provider only");
  onRun<Options>(command, cli, async (run) => {
    const { options } = run;
    const roles = options.role ?? ["field-worker"];
    const strange = roles.find((role) => !workerRoles.some((known) => known === role));
    if (strange !== undefined) {
      throw new CliFailure(
        `"${strange}" is not a role.${didYouMean(strange, workerRoles)} Use ${workerRoles.join(", ")}.`,
        2,
      );
    }
    const deployment = await run.deployment();
    const { store, config } = deployment;
    const tenant = await chosenTenant(deployment, options);
    const username = checkUsername(run.args[0] ?? "");
    // Before anyone types a password for nothing; `addWorker` decides.
    if (await findWorker(store, tenant.id, username)) {
      throw new CliFailure(
        `The tenant ${tenant.id} already has a user "${username}", perhaps spelt a little differently.`,
      );
    }
    const passwordHash = options.password
      ? await hashPassword(await readNewPassword(cli, options, { username, tenant, config }))
      : null;
    const worker = await store.transaction((tx) =>
      addWorker(tx, { tenantId: tenant.id, username, passwordHash, roles }),
    );
    return { json: userAsJson(worker), text: `Added ${worker.username} (${worker.roles.join(", ")}) to ${tenant.id}.` };
  });
}
