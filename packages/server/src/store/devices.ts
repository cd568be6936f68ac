import { sql } from "kysely";
import type { Queries } from "./store.ts";

/** Whether this device belongs to one of the accounts and has not been forgotten. */
export async function isKnownDevice(
  q: Queries,
  tenantId: string,
  userIds: readonly string[],
  deviceId: string,
): Promise<boolean> {
  const row = await q.db
    .selectFrom("devices")
    .select("user_id")
    .where("id", "=", deviceId)
    .where("tenant_id", "=", tenantId)
    .where("expires_at", ">", q.now)
    .executeTakeFirst();
  return row !== undefined && userIds.includes(row.user_id);
}

/** Remembers a device of an account, or remembers it for longer. */
export async function rememberDevice(
  tx: Queries,
  device: { readonly id: string; readonly tenantId: string; readonly userId: string },
  lifeSeconds: number,
): Promise<void> {
  const expiresAt = sql<number>`${tx.now} + ${lifeSeconds * 1000}`;
  await tx.db
    .insertInto("devices")
    .values({
      id: device.id,
      tenant_id: device.tenantId,
      user_id: device.userId,
      created_at: tx.now,
      expires_at: expiresAt,
    })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ expires_at: expiresAt }))
    .execute();
}
