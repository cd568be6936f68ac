import type { Command } from "commander";
import { setProviderSecret } from "../people/identity-providers.ts";
import { demandTenant } from "./choose.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { askHidden, canAsk, readStdin } from "./prompt.ts";
import { demandProviderType, providerOption } from "./provider-choice.ts";

interface Options {
  readonly provider?: string;
  readonly secretStdin?: true;
  readonly remove?: true;
}

export function addTenantSecretCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "secret <tenant>", {
    summary: "set the client secret with which an identity provider is asked about opaque tokens",
    notes:
      "It is sealed under the deployment secret and shown by no command. It is forgotten when the adapter's authority or\n" +
      "client_id changes.",
    examples: [
      ["fieldgate tenant secret kenya --provider oidc_a", "asks for the secret"],
      ["pass show idp | fieldgate tenant secret kenya --provider oidc_a --secret-stdin", "from a password manager"],
      ["fieldgate tenant secret kenya --provider oidc_a --remove", "opaque tokens are refused again"],
    ],
  })
    .option(...providerOption)
    .option("--secret-stdin", "read the secret from stdin")
    .option("--remove", "take the secret away");
  onRun<Options>(command, cli, async (run) => {
    const { store, vault } = await run.deployment();
    const tenant = await demandTenant(store, run.args[0] ?? "");
    const type = demandProviderType(tenant, run.options.provider);
    const secret = run.options.remove ? null : await readSecret(cli, run.options);
    await store.transaction((tx) => setProviderSecret(tx, vault, { tenantId: tenant.id, type }, secret));
    const text = secret === null ? `${type} has no client secret any more.` : `${type} has a client secret now.`;
    return { json: { tenantId: tenant.id, provider: type, hasSecret: secret !== null }, text };
  });
}

async function readSecret(cli: CliContext, { secretStdin }: Options): Promise<string> {
  if (!secretStdin && !canAsk(cli)) {
    throw new CliFailure("Say where the secret comes from: --secret-stdin, or run this in a terminal.", 2);
  }
  const secret = secretStdin ? await readStdin(cli, "a secret") : await askHidden(cli, "The secret (it is not shown)");
  const trimmed = secret.trim();
  if (trimmed === "" || trimmed.length > 1024) throw new CliFailure("A client secret has 1 to 1,024 characters.");
  return trimmed;
}
