import { sql } from "kysely";
import { prepare } from "./prepared.ts";
import type { Queries } from "./store.ts";

const insertProof = prepare((tx, { id, lifeMs }: { id: string; lifeMs: number }) =>
  tx.db
    .insertInto("dpop_proofs")
    .values({ id, expires_at: sql<number>`${tx.now} + ${lifeMs}` })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returning("id"),
);

/** Uses a proof up; false when it was used before. */
export async function consumeProof(tx: Queries, id: string, lifeSeconds: number): Promise<boolean> {
  const rows = await insertProof(tx, { id, lifeMs: lifeSeconds * 1000 });
  return rows.length === 1;
}
