import { createSecretKey, type KeyObject } from "node:crypto";
import { systemClock } from "../../../packages/server/src/clock.ts";
import type { Store } from "../../../packages/server/src/store/store.ts";
import { createKeyVault } from "../../../packages/server/src/tokens/key-vault.ts";
import { listKeys, loadSecretKey } from "../../../packages/server/src/tokens/keys.ts";
import { type HandKeys, openHandKeys } from "../../service/hand/keys.ts";

/** The keys the hand-written server works with: those of the service and of its one tenant, opened once. */
export interface CitizenKeys extends HandKeys {
  readonly index: KeyObject;
  readonly otp: KeyObject;
  readonly tenant: { readonly id: string; readonly data: KeyObject; readonly index: KeyObject };
}

export async function openCitizenKeys(store: Store, secret: Uint8Array, tenantId: string): Promise<CitizenKeys> {
  const vault = createKeyVault(secret);
  const records = await listKeys(store);
  const own = async (purpose: "index" | "otp") => {
    const record = records.find((key) => key.purpose === purpose && key.activeFrom <= systemClock.now());
    if (!record) throw new Error(`There is no ${purpose} key.`);
    return createSecretKey(await loadSecretKey(store, vault, record.id));
  };
  const rows = await store.db.selectFrom("tenant_keys").selectAll().where("tenant_id", "=", tenantId).execute();
  const ofTenant = (purpose: "data" | "index") => {
    const row = rows.find((each) => each.purpose === purpose);
    if (!row) throw new Error(`The tenant has no ${purpose} key.`);
    return createSecretKey(vault.open(row.id, `tenant-${purpose}`, row.sealed));
  };
  return {
    ...(await openHandKeys(store, secret)),
    index: await own("index"),
    otp: await own("otp"),
    tenant: { id: tenantId, data: ofTenant("data"), index: ofTenant("index") },
  };
}
