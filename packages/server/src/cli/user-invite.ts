import { issuerOf, workerRoles } from "@fieldgate/contract";
import type { Command } from "commander";
import { addProviderWorker } from "../people/provider-workers.ts";
import { checkUsername } from "../people/username.ts";
import { checkRoles } from "../people/workers.ts";
import { chosenTenant, type TenantOption, tenantOption } from "./choose.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { collect } from "./group.ts";
import { demandProviderType, providerOption } from "./provider-choice.ts";
import { userAsJson } from "./user-view.ts";

interface Options extends TenantOption {
  readonly provider?: string;
  readonly name?: string;
  readonly role?: readonly string[];
}

export function addUserInviteCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "invite <subject>", {
    summary: "let someone in whom the tenant's identity provider knows",
    notes:
      "The subject is the person's id at the provider, the sub of its tokens: it never changes hands, as an email address\n" +
      "may. Where provision is invited, only people added this way are let in.",
    examples: [
      ["fieldgate user invite 'auth0|64ab12' --tenant kenya --name 'Amina Otieno'", "a field worker"],
      ["fieldgate user invite 0b7e… --tenant kenya --provider oidc_b --role supervisor", "with another role"],
    ],
  })
    .option(...tenantOption)
    .option(...providerOption)
    .option("--name <text>", "the name to show until the first sign-in (default: the subject)")
    .option("--role <role>", `${workerRoles.join(", ")} (repeatable; default field-worker)`, collect);
  onRun<Options>(command, cli, async (run) => {
    const deployment = await run.deployment();
    const tenant = await chosenTenant(deployment, run.options);
    const type = demandProviderType(tenant, run.options.provider);
    const subject = run.args[0] ?? "";
    if (subject === "" || subject.length > 255 || /[\p{Cc}\p{Cs}]/u.test(subject)) {
      throw new CliFailure("A subject has 1 to 255 characters, without control characters.", 2);
    }
    const adapter = tenant.settings.adapters.find((each) => each.type === type);
    if (!adapter) throw new CliFailure(`The tenant ${tenant.id} has no ${type}.`);
    const username = checkUsername(run.options.name ?? subject);
    const roles = checkRoles(run.options.role ?? ["field-worker"]);
    const identity = { tenantId: tenant.id, issuer: issuerOf(adapter), subject };
    const { worker, added } = await deployment.store.transaction((tx) =>
      addProviderWorker(tx, identity, { username, roles }),
    );
    if (!added) throw new CliFailure(`${worker.username} is a user of ${tenant.id} already, with the id ${worker.id}.`);
    return {
      json: { ...userAsJson(worker), issuer: identity.issuer, subject },
      text: `${worker.username} (${worker.roles.join(", ")}) may sign in to ${tenant.id} through ${identity.issuer}.`,
    };
  });
}
