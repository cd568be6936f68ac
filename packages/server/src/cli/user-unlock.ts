import type { Command } from "commander";
import { unlockWorker } from "../people/workers.ts";
import { budgetSubject } from "../tokens/index-key.ts";
import { chosenTenant, demandWorker, type TenantOption, tenantOption } from "./choose.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { loadIndexKey } from "./index-key.ts";
import { userAsJson } from "./user-view.ts";

export function addUserUnlockCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "unlock <username>", {
    summary: "forget a user's failed attempts, so that signing in works at once",
    examples: [["fieldgate user unlock amina --tenant kenya", "after too many wrong passwords"]],
  }).option(...tenantOption);
  onRun<TenantOption>(command, cli, async (run) => {
    const deployment = await run.deployment();
    const tenant = await chosenTenant(deployment, run.options);
    const worker = await demandWorker(deployment.store, tenant, run.args[0] ?? "");
    const subject = budgetSubject(await loadIndexKey(deployment), tenant.id, worker.usernameKey);
    const cleared = await deployment.store.transaction((tx) => unlockWorker(tx, worker, subject));
    const text =
      cleared === 0 ? `Nothing was held against ${worker.username}.` : `${worker.username} can try again at once.`;
    return { json: { ...userAsJson(worker), cleared }, text };
  });
}
