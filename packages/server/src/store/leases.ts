import type { Queries } from "./store.ts";

/**
 * Takes the lease called `name`, or renews it; false while another holds it. The holder must renew it before
 * `seconds` are over, by the database's clock, and stop its work when that fails.
 */
export async function holdLease(q: Queries, name: string, holder: string, seconds: number): Promise<boolean> {
  const { now } = q;
  const held = await q.db
    .insertInto("leases")
    .values((eb) => ({ name, holder, expires_at: eb(now, "+", seconds * 1000) }))
    .onConflict((conflict) =>
      conflict
        .column("name")
        .doUpdateSet((eb) => ({ holder: eb.ref("excluded.holder"), expires_at: eb.ref("excluded.expires_at") }))
        .where((eb) => eb.or([eb("leases.holder", "=", holder), eb("leases.expires_at", "<=", now)])),
    )
    .returning("name")
    .execute();
  return held.length === 1;
}

/** Lets others have it at once; does nothing when another holds it by now. */
export async function dropLease(q: Queries, name: string, holder: string): Promise<void> {
  await q.db.deleteFrom("leases").where("name", "=", name).where("holder", "=", holder).execute();
}
