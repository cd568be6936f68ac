import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { dropOldDataKeys } from "../people/rotate-data-keys.ts";
import { listTenants, type Tenant } from "../people/tenants.ts";
import type { Services } from "../services.ts";
import { findBeneficiary } from "../store/beneficiaries.ts";
import { findLongDisabled } from "../store/beneficiary-lists.ts";
import { dropLease, holdLease } from "../store/leases.ts";
import { emptyLog } from "../store/scrub.ts";
import { eraseBeneficiary } from "./erase-beneficiary.ts";

const lease = "housekeeping";
const leaseSeconds = 120;
const roundMs = 10 * 60_000;
const batchSize = 20;
const pauseMs = 50;

type Parts = Pick<Services, "store" | "dataKeys" | "keyring">;

export interface Housekeeping {
  /** Waits until the person under way is done. */
  stop(): Promise<void>;
}

/** Carries out what tenants decided about keeping people, every ten minutes and on one node at a time. */
export function startHousekeeping(parts: Parts, onError: (error: unknown) => void): Housekeeping {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => {});
  async function go(): Promise<void> {
    while (!signal.aborted) {
      await pause(roundMs * (0.5 + Math.random()));
      if (!signal.aborted) await keepHouse(parts, signal).catch(onError);
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

/** One round: erases people whose time is over, and forgets data keys that nothing needs. Returns how many were erased. */
export async function keepHouse(parts: Parts, signal?: AbortSignal): Promise<number> {
  const { store, dataKeys } = parts;
  const holder = randomUUID();
  if (!(await holdLease(store, lease, holder, leaseSeconds))) return 0;
  let erased = 0;
  try {
    for (const tenant of await listTenants(store)) {
      if (signal?.aborted) break;
      erased += await eraseLongDisabled(parts, tenant, holder, signal);
      await dropOldDataKeys(store, dataKeys, tenant.id);
    }
    // Deleted rows are overwritten in the file at once; the log still holds the pages as they were.
    if (erased > 0) await emptyLog(store);
    return erased;
  } finally {
    await dropLease(store, lease, holder);
  }
}

async function eraseLongDisabled(
  { store, dataKeys, keyring }: Parts,
  { id: tenantId, settings }: Tenant,
  holder: string,
  signal?: AbortSignal,
): Promise<number> {
  const days = settings.retention?.disabledAfterDays;
  if (days === undefined) return 0;
  let erased = 0;
  for (;;) {
    const ids = await findLongDisabled(store, tenantId, { days, limit: batchSize });
    for (const id of ids) {
      if (signal?.aborted) return erased;
      const context = { cipher: await dataKeys.cipher(tenantId), indexKey: keyring.mac("index").secret };
      erased += await store.transaction(async (tx) => {
        const person = await findBeneficiary(tx, context.cipher, id);
        // Someone may have enabled them a moment ago.
        if (!person || person.disabledAt === null) return 0;
        await eraseBeneficiary(tx, context, person, "retention");
        return 1;
      });
    }
    if (ids.length < batchSize || !(await holdLease(store, lease, holder, leaseSeconds))) return erased;
    await sleep(pauseMs);
  }
}
