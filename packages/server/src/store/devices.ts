import { sql } from "kysely";
import { prepare } from "./prepared.ts";
import type { Queries } from "./store.ts";

const ownerOf = prepare((q, { deviceId, tenantId }: { deviceId: string; tenantId: string }) =>
  q.db
    .selectFrom("devices")
    .select("user_id")
    .where("id", "=", deviceId)
    .where("tenant_id", "=", tenantId)
    .where("expires_at", ">", q.now),
);

/** Whether this device belongs to one of the accounts and has not been forgotten. */
export async function isKnownDevice(
  q: Queries,
  tenantId: string,
  userIds: readonly string[],
  deviceId: string,
): Promise<boolean> {
  const [owner] = await ownerOf(q, { deviceId, tenantId });
  return owner !== undefined && userIds.includes(owner.user_id);
}

/** Whether this device belongs to any worker of the tenant who may sign in. */
export async function isWorkersDevice(q: Queries, tenantId: string, deviceId: string): Promise<boolean> {
  const [owner] = await ownerOf(q, { deviceId, tenantId });
  const worker =
    owner &&
    (await q.db
      .selectFrom("workers")
      .select("id")
      .where("id", "=", owner.user_id)
      .where("tenant_id", "=", tenantId)
      .where("disabled_at", "is", null)
      .executeTakeFirst());
  return worker !== undefined;
}

interface Device {
  readonly id: string;
  readonly tenantId: string;
  readonly userId: string;
}

const upsert = prepare((tx, { id, tenantId, userId, lifeMs }: Device & { readonly lifeMs: number }) => {
  const expiresAt = sql<number>`${tx.now} + ${lifeMs}`;
  return tx.db
    .insertInto("devices")
    .values({ id, tenant_id: tenantId, user_id: userId, created_at: tx.now, expires_at: expiresAt })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ expires_at: expiresAt }));
});

/** Remembers a device of an account, or remembers it for longer. */
export async function rememberDevice(tx: Queries, device: Device, lifeSeconds: number): Promise<void> {
  await upsert(tx, { ...device, lifeMs: lifeSeconds * 1000 });
}
