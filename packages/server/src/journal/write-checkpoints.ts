import type { Queries, Store } from "../store/store.ts";
import { type Checkpoint, signCheckpoint } from "./checkpoint.ts";
import type { SigningKey } from "./signing-key.ts";

/** The tenants whose chain has grown since their last checkpoint. */
export async function tenantsToSign(q: Queries): Promise<string[]> {
  const rows = await q.db
    .selectFrom("journal_heads as head")
    .select("head.tenant_id")
    .where(({ eb, selectFrom, fn, val }) =>
      eb(
        "head.seq",
        ">",
        fn.coalesce(
          selectFrom("journal_checkpoints as checkpoint")
            .select((inner) => inner.fn.max("checkpoint.seq").as("seq"))
            .whereRef("checkpoint.tenant_id", "=", "head.tenant_id"),
          val(0),
        ),
      ),
    )
    .orderBy("head.tenant_id")
    .execute();
  return rows.map((row) => row.tenant_id);
}

export interface StoredCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly key: SigningKey;
}

export type SigningKeys = (q: Queries, now: number) => Promise<SigningKey>;

/**
 * Signs and stores where a tenant's chain stands. Null where there is nothing new. Throws `HeadMismatch` rather than
 * sign a head that is not that of the last event.
 */
export async function writeCheckpoint(
  store: Store,
  signingKeys: SigningKeys,
  tenantId: string,
): Promise<StoredCheckpoint | null> {
  return store.transaction(async (tx) => {
    // Writing the row, if only with what it holds, keeps every other sealer out until the checkpoint is stored.
    const head = await tx.db
      .updateTable("journal_heads")
      .set((eb) => ({ seq: eb.ref("seq") }))
      .where("tenant_id", "=", tenantId)
      .returning(["seq", "hash", tx.now.as("now")])
      .executeTakeFirst();
    const previous = await lastCheckpointSeq(tx, tenantId);
    if (!head || head.seq <= previous) return null;
    const { seq, hash, now: at } = head;
    const event = await tx.db
      .selectFrom("journal_events")
      .select("hash")
      .where("tenant_id", "=", tenantId)
      .where("seq", "=", seq)
      .executeTakeFirst();
    if (event?.hash !== hash) throw new HeadMismatch(tenantId, seq);

    const key = await signingKeys(tx, at);
    const checkpoint = signCheckpoint(key.id, key.privateKey, { tenantId, seq, hash, at, previous });
    await tx.db
      .insertInto("journal_checkpoints")
      .values({ tenant_id: tenantId, seq, hash, at, key_id: key.id, signature: checkpoint.signature })
      .execute();
    return { checkpoint, key };
  });
}

/** Someone changed a head or removed its event: signing it would vouch for that. */
export class HeadMismatch extends Error {
  override readonly name = "HeadMismatch";

  constructor(tenantId: string, seq: number) {
    super(
      `The journal of tenant ${tenantId} gets no checkpoint: its head names event ${seq}, which is not there as the head has it. ` +
        "Run `fieldgate journal verify`.",
    );
  }
}

async function lastCheckpointSeq(tx: Queries, tenantId: string): Promise<number> {
  const row = await tx.db
    .selectFrom("journal_checkpoints")
    .select((eb) => eb.fn.max("seq").as("seq"))
    .where("tenant_id", "=", tenantId)
    .executeTakeFirst();
  return Number(row?.seq ?? 0);
}
