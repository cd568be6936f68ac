import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { dropLease, holdLease } from "./leases.ts";
import type { Database } from "./schema.ts";
import type { Queries, Store } from "./store.ts";

interface Perishable {
  readonly table: keyof Database;
  readonly key: string;
  /** Milliseconds that a row is kept after it has expired. */
  readonly keep: number;
}

const day = 24 * 60 * 60 * 1000;
const perishables: readonly Perishable[] = [
  { table: "budgets", key: "key", keep: 0 },
  { table: "dpop_proofs", key: "id", keep: 0 },
  { table: "devices", key: "id", keep: 0 },
  // Ended ones too stay until then: nodes learn of an end from the row, and a stolen token is known by it.
  { table: "sessions", key: "id", keep: day },
];

const lease = "maintenance";
const leaseSeconds = 60;
const batchSize = 500;
const pauseMs = 50;
const roundMs = 60_000;

export interface Maintenance {
  /** Waits until the batch under way is done. */
  stop(): Promise<void>;
}

/** Removes expired rows about once a minute; of all nodes one at a time does it. */
export function startMaintenance(store: Store, options: { onError(error: unknown): void }): Maintenance {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => {});

  async function go(): Promise<void> {
    while (!signal.aborted) {
      // Not all nodes at the same moment.
      await pause(roundMs * (0.5 + Math.random()));
      if (signal.aborted) return;
      try {
        await purgeExpired(store, signal);
      } catch (error) {
        options.onError(error);
      }
    }
  }

  const running = go();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Removes what has expired, in small transactions with pauses between them, and returns how many rows it was. */
export async function purgeExpired(store: Store, signal?: AbortSignal): Promise<number> {
  const holder = randomUUID();
  let purged = 0;
  for (const perishable of perishables) {
    let removed = batchSize;
    while (removed === batchSize && !signal?.aborted) {
      removed = await store.transaction(async (tx) => {
        return (await holdLease(tx, lease, holder, leaseSeconds)) ? await removeBatch(tx, perishable) : -1;
      });
      // Another node is at it.
      if (removed === -1) return purged;
      purged += removed;
      if (removed === batchSize) await sleep(pauseMs);
    }
  }
  await dropLease(store, lease, holder);
  return purged;
}

async function removeBatch(tx: Queries, { table, key, keep }: Perishable): Promise<number> {
  const id = sql.ref(key);
  const isOver = sql`expires_at <= ${tx.now} - cast(${keep} as bigint)`;
  // Said twice, because a row may be renewed between being found and being removed.
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)}
    where ${id} in (select ${id} from ${sql.table(table)} where ${isOver} order by expires_at limit ${batchSize})
      and ${isOver}`.execute(tx.db);
  return Number(numAffectedRows);
}
