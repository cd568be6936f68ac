import { hash, randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { TenantCipher } from "../people/data-keys.ts";
import type { Queries } from "./store.ts";

/** What stands between two steps of a sign-in. A handle proves nothing by itself and is never a Bearer token. */
export type HandlePurpose = "selection" | "step-up";

const place = (row: string) => ({ table: "handles", row, column: "sealed_state" });
const hashOf = (handle: string) => hash("sha256", handle, "base64url");

export async function createHandle(
  tx: Queries,
  cipher: TenantCipher,
  purpose: HandlePurpose,
  state: object,
  lifeSeconds: number,
): Promise<string> {
  const handle = randomBytes(32).toString("base64url");
  const row = hashOf(handle);
  await tx.db
    .insertInto("handles")
    .values({
      hash: row,
      tenant_id: cipher.tenantId,
      purpose,
      sealed_state: cipher.seal(place(row), JSON.stringify(state)),
      expires_at: sql<number>`${tx.now} + ${lifeSeconds * 1000}`,
    })
    .execute();
  return handle;
}

/** What a handle stands for, as long as it is good. */
export async function readHandle<State>(
  q: Queries,
  cipher: TenantCipher,
  purpose: HandlePurpose,
  handle: string,
): Promise<State | null> {
  const row = await q.db
    .selectFrom("handles")
    .select(["hash", "sealed_state"])
    .where("hash", "=", hashOf(handle))
    .where("tenant_id", "=", cipher.tenantId)
    .where("purpose", "=", purpose)
    .where("expires_at", ">", q.now)
    .executeTakeFirst();
  return row ? (JSON.parse(cipher.open(place(row.hash), row.sealed_state)) as State) : null;
}

/** Uses a handle up; false when it was used before, or its time is over. */
export async function consumeHandle(tx: Queries, handle: string): Promise<boolean> {
  const rows = await tx.db
    .deleteFrom("handles")
    .where("hash", "=", hashOf(handle))
    .where("expires_at", ">", tx.now)
    .returning("hash")
    .execute();
  return rows.length === 1;
}
