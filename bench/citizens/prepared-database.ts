import { systemClock } from "../../packages/server/src/clock.ts";
import type { DatabaseConfig } from "../../packages/server/src/config/config.ts";
import { createDataKeys, type TenantCipher } from "../../packages/server/src/people/data-keys.ts";
import { addTenant } from "../../packages/server/src/people/tenants.ts";
import { openStore } from "../../packages/server/src/store/open-store.ts";
import type { Store } from "../../packages/server/src/store/store.ts";
import { createKeyVault } from "../../packages/server/src/tokens/key-vault.ts";
import { type Keyring, openKeyring } from "../../packages/server/src/tokens/keyring.ts";
import { ensureKeys } from "../../packages/server/src/tokens/keys.ts";
import { tenantId } from "../service/service-config.ts";

export interface PreparedDatabase {
  readonly store: Store;
  readonly keyring: Keyring;
  readonly cipher: TenantCipher;
  close(): Promise<void>;
}

/** A new database with its tables, its keys and a tenant, as the first start of a node leaves it. */
export async function prepareDatabase(database: DatabaseConfig, secret: Uint8Array): Promise<PreparedDatabase> {
  const store = await openStore(database, systemClock);
  const vault = createKeyVault(secret);
  await store.migrate();
  await ensureKeys(store, vault);
  await store.transaction(async (tx) => {
    await addTenant(tx, { id: tenantId, name: "Benchmark", settings: {} }, { loopbackHttp: true });
  });
  const keyring = await openKeyring(store, vault, systemClock);
  const cipher = await createDataKeys(store, vault, systemClock).cipher(tenantId);
  return {
    store,
    keyring,
    cipher,
    async close() {
      keyring.stop();
      await store.close();
    },
  };
}
