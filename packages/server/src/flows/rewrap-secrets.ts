import { deploymentTenant } from "../journal/event.ts";
import { recordEvent } from "../journal/record.ts";
import { rewrapDataKeys } from "../people/data-keys.ts";
import { rewrapProviderSecrets } from "../people/identity-providers.ts";
import { rewrapIssuers } from "../people/qr-issuers.ts";
import type { Queries } from "../store/store.ts";
import type { KeyVault } from "../tokens/key-vault.ts";
import { rewrapKeys } from "../tokens/keys.ts";

/**
 * Seals everything that hangs on the deployment secret anew under another one: the deployment's keys, those of each
 * tenant's personal data, those that sign its cards, and the client secrets of identity providers. Nothing is written unless all of them open. Returns how many.
 */
export async function rewrapSecrets(tx: Queries, from: KeyVault, to: KeyVault): Promise<number> {
  // First, because it keeps others from making keys meanwhile.
  const deployment = await rewrapKeys(tx, from, to);
  const people = (await rewrapDataKeys(tx, from, to)) + (await rewrapIssuers(tx, from, to));
  const keys = deployment + people + (await rewrapProviderSecrets(tx, from, to));
  await recordEvent(tx, { tenantId: deploymentTenant, type: "secret.rotated", data: { keys } });
  return keys;
}
