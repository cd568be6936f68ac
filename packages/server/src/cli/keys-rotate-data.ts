import { createDataKeys } from "../people/data-keys.ts";
import { rotateDataKeys } from "../people/rotate-data-keys.ts";
import { prepareForMany } from "../store/bulk.ts";
import { chosenTenant, type TenantOption } from "./choose.ts";
import { CliFailure } from "./cli-failure.ts";
import type { Answer, CliContext, Run } from "./context.ts";
import { progressLine } from "./progress.ts";

/** `keys rotate --data`: new keys for a tenant's personal data, beside a running service. */
export async function runDataRotation(run: Run<TenantOption>, cli: CliContext): Promise<Answer> {
  const deployment = await run.deployment();
  const { store, vault } = deployment;
  const tenant = await chosenTenant(deployment, run.options);
  const progress = progressLine(cli, "re-encrypting", run.options.json === true);
  const stopping = new AbortController();
  cli.onStopSignal(() => stopping.abort());
  await prepareForMany(store);
  const end = await rotateDataKeys({
    store,
    dataKeys: createDataKeys(store, vault, cli.clock),
    tenantId: tenant.id,
    signal: stopping.signal,
    onProgress: ({ done, total }) =>
      progress.show({ share: total === 0 ? 1 : done / total, done, facts: `of ${total.toLocaleString("en")} people` }),
  }).finally(progress.end);
  if (!end.complete) {
    throw new CliFailure(`Stopped. Both versions of the keys are in use; the same command goes on from here.`);
  }
  const { version, resumed, people, cards, events, dropped } = end;
  const number = (value: number) => value.toLocaleString("en");
  const lines = [
    `${number(people)} people, ${number(cards)} cards and ${number(events)} events of ${tenant.id} are sealed under version ${version} of its keys.`,
    ...(resumed ? ["This finished a rotation that was begun earlier. Run it again for another one."] : []),
    dropped
      ? "The old keys are gone."
      : "Messages or sign-ins under way still need the old keys; the service forgets them when they are done.",
  ];
  return {
    json: { tenantId: tenant.id, version, resumed, people, cards, events, oldKeysDropped: dropped },
    text: lines.join("\n"),
  };
}
