import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { dropLease, holdLease } from "./leases.ts";
import { findSurplusOfNobody, removeSurplus } from "./outbox.ts";
import type { Database } from "./schema.ts";
import type { Queries, Store } from "./store.ts";

interface Perishable {
  readonly table: keyof Database;
  readonly key: string;
  /** Milliseconds that a row is kept after it has expired. */
  readonly keep: number;
  /** Which rows are meant, where not all are. */
  readonly only?: RawBuilder<boolean>;
}

const minute = 60 * 1000;
const day = 24 * 60 * minute;
const perishables: readonly Perishable[] = [
  { table: "budgets", key: "key", keep: 0 },
  { table: "dpop_proofs", key: "id", keep: 0 },
  { table: "spent_tokens", key: "id", keep: 0 },
  { table: "provider_logouts", key: "id", keep: 0 },
  { table: "devices", key: "id", keep: 0 },
  // Ended ones too stay until then: nodes learn of an end from the row, and a stolen token is known by it.
  { table: "sessions", key: "id", keep: day },
  // A little longer than a code lives: whether one was sent a moment ago is read from it.
  { table: "otp_challenges", key: "slot", keep: 10 * minute },
  { table: "handles", key: "hash", keep: 0 },
  // What was for nobody goes with its code; the rest answers for a day why a code did not arrive.
  { table: "outbox", key: "id", keep: 0, only: sql<boolean>`state = 'void'` },
  { table: "outbox", key: "id", keep: day },
];
/** Messages for nobody that a tenant's table holds at most: strangers can ask for as many as they like. */
const mostVoid = 100_000;

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
        await purgeExpired(store, { signal });
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

export interface PurgeOptions {
  readonly signal?: AbortSignal;
  readonly mostVoid?: number;
}

/** Removes what has expired, in small transactions with pauses between them, and returns how many rows it was. */
export async function purgeExpired(store: Store, options: PurgeOptions = {}): Promise<number> {
  const holder = randomUUID();
  let purged = 0;

  /** False when another node is at it. */
  async function inBatches(remove: (tx: Queries) => Promise<number>): Promise<boolean> {
    let removed = batchSize;
    while (removed === batchSize && !options.signal?.aborted) {
      removed = await store.transaction(async (tx) => {
        return (await holdLease(tx, lease, holder, leaseSeconds)) ? await remove(tx) : -1;
      });
      if (removed === -1) return false;
      purged += removed;
      if (removed === batchSize) await sleep(pauseMs);
    }
    return true;
  }

  for (const perishable of perishables) {
    if (!(await inBatches((tx) => removeBatch(tx, perishable)))) return purged;
  }
  for (const surplus of await findSurplusOfNobody(store, options.mostVoid ?? mostVoid)) {
    if (!(await inBatches((tx) => removeSurplus(tx, surplus, batchSize)))) return purged;
  }
  await dropLease(store, lease, holder);
  return purged;
}

async function removeBatch(tx: Queries, { table, key, keep, only }: Perishable): Promise<number> {
  const id = sql.ref(key);
  const isMeant = only ?? sql<boolean>`1 = 1`;
  const isOver = sql`expires_at <= ${tx.now} - cast(${keep} as bigint) and ${isMeant}`;
  // Said twice, because a row may be renewed between being found and being removed.
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)}
    where ${id} in (select ${id} from ${sql.table(table)} where ${isOver} order by expires_at limit ${batchSize})
      and ${isOver}`.execute(tx.db);
  return Number(numAffectedRows);
}
