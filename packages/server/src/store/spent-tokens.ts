import { sql } from "kysely";
import type { Queries } from "./store.ts";

/** Uses a token up, by a hash that names it; false when it was used before. */
export async function spendToken(tx: Queries, id: string, lifeSeconds: number): Promise<boolean> {
  const rows = await tx.db
    .insertInto("spent_tokens")
    .values({ id, expires_at: sql<number>`${tx.now} + ${lifeSeconds * 1000}` })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returning("id")
    .execute();
  return rows.length === 1;
}
