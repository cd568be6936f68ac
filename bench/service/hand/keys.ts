import { createPrivateKey, createSecretKey, type KeyObject } from "node:crypto";
import { systemClock } from "../../../packages/server/src/clock.ts";
import type { Store } from "../../../packages/server/src/store/store.ts";
import { createKeyVault } from "../../../packages/server/src/tokens/key-vault.ts";
import { listKeys, loadSecretKey } from "../../../packages/server/src/tokens/keys.ts";

/** The keys the hand-written server works with: those of the service, opened once. */
export interface HandKeys {
  readonly kid: string;
  readonly signer: KeyObject;
  readonly refresh: KeyObject;
  readonly device: KeyObject;
  readonly nonce: KeyObject;
}

export async function openHandKeys(store: Store, secret: Uint8Array): Promise<HandKeys> {
  const vault = createKeyVault(secret);
  const records = await listKeys(store);
  const open = async (purpose: string) => {
    const record = records.find((key) => key.purpose === purpose && key.activeFrom <= systemClock.now());
    if (!record) throw new Error(`There is no ${purpose} key.`);
    return { id: record.id, secret: await loadSecretKey(store, vault, record.id) };
  };
  const access = await open("access");
  return {
    kid: access.id,
    signer: createPrivateKey({ key: Buffer.from(access.secret), format: "der", type: "pkcs8" }),
    refresh: createSecretKey((await open("refresh")).secret),
    device: createSecretKey((await open("device")).secret),
    nonce: createSecretKey((await open("nonce")).secret),
  };
}
