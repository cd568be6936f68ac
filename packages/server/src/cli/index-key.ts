import { listKeys, loadSecretKey } from "../tokens/keys.ts";
import { CliFailure } from "./cli-failure.ts";
import type { Deployment } from "./context.ts";

/** The key under which budgets are named: see `tokens/index-key`. */
export async function loadIndexKey({ store, vault }: Deployment): Promise<Uint8Array> {
  const key = (await listKeys(store)).findLast(({ purpose }) => purpose === "index");
  if (!key) throw new CliFailure("The database has no keys yet. Start the service once with `fieldgate serve`.");
  return loadSecretKey(store, vault, key.id);
}
