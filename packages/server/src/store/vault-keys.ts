import type { Selectable } from "kysely";
import type { VaultKeyTable } from "./schema.ts";
import type { Queries } from "./store.ts";

/** Where a user's vault key lies sealed. */
export const vaultKeyPlace = (userId: string) => ({ table: "vault_keys", row: userId, column: "sealed_key" });

export async function findVaultKey(
  q: Queries,
  tenantId: string,
  userId: string,
): Promise<Pick<Selectable<VaultKeyTable>, "id" | "sealed_key"> | null> {
  const row = await q.db
    .selectFrom("vault_keys")
    .select(["id", "sealed_key"])
    .where("tenant_id", "=", tenantId)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return row ?? null;
}
