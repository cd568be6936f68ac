import { setTimeout as sleep } from "node:timers/promises";
import { recordEvent } from "../journal/record.ts";
import type { Store } from "../store/store.ts";
import { type DataKeys, dataKeyLeadMs, type TenantCipher } from "./data-keys.ts";
import {
  countOlder,
  isInUse,
  reencryptCards,
  reencryptEvents,
  reencryptPeople,
  reencryptVaultKeys,
} from "./reencrypt.ts";

export interface RotationTask {
  readonly store: Store;
  readonly dataKeys: DataKeys;
  readonly tenantId: string;
  onProgress(progress: { readonly done: number; readonly total: number }): void;
  /** Asks to stop behind the batch under way; a later run goes on from there. */
  readonly signal: AbortSignal;
}

export interface RotationEnd {
  /** The version that everything is written with now. */
  readonly version: number;
  /** Whether this run went on with a rotation that an earlier one had begun. */
  readonly resumed: boolean;
  readonly people: number;
  readonly cards: number;
  readonly events: number;
  /** Whether the older keys are gone; if not, something short-lived is still sealed under them. */
  readonly dropped: boolean;
  /** False where it was stopped before. */
  readonly complete: boolean;
}

/**
 * Gives a tenant new keys and re-encrypts what the old ones made, beside everyone who signs in meanwhile: look-ups go
 * by both versions until the old one is gone. A rotation that was begun before is finished instead of beginning another.
 */
export async function rotateDataKeys(task: RotationTask): Promise<RotationEnd> {
  const { store, dataKeys, tenantId } = task;
  await dataKeys.cipher(tenantId);
  const [newest, older] = await dataKeys.versions(tenantId);
  if (!newest) throw new Error(`The tenant ${tenantId} has no keys.`);
  const resumed = older !== undefined;
  const version = resumed ? newest.version : newest.version + 1;
  if (!resumed) await dataKeys.addVersion(tenantId, version);

  const sum = { people: 0, cards: 0, events: 0 };
  const total = await countOlder(store, tenantId, version);
  const sweep = async () => {
    const cipher = await cipherOf(task, version);
    for (let count = 1; count > 0 && !task.signal.aborted; ) {
      count = await store.transaction((tx) => reencryptPeople(tx, cipher));
      sum.people += count;
      task.onProgress({ done: sum.people, total: Math.max(total, sum.people) });
    }
    for (let after: string | null = ""; after !== null && !task.signal.aborted; ) {
      const from: string = after;
      const page = await store.transaction((tx) => reencryptCards(tx, cipher, from));
      sum.cards += page.count;
      after = page.last;
    }
    for (let after: number | null = 0; after !== null && !task.signal.aborted; ) {
      const from: number = after;
      const page = await store.transaction((tx) => reencryptEvents(tx, cipher, from));
      sum.events += page.count;
      after = page.last;
    }
    for (let count = 1; count > 0 && !task.signal.aborted; ) {
      count = await store.transaction((tx) => reencryptVaultKeys(tx, cipher));
    }
  };
  await untilAged(task, version, dataKeyLeadMs);
  await sweep();
  // Whoever had read the older keys just before has written by then what they were about to write.
  await untilAged(task, version, 2 * dataKeyLeadMs);
  await sweep();
  if (task.signal.aborted) return { version, resumed, ...sum, dropped: false, complete: false };

  await store.transaction((tx) => recordEvent(tx, { tenantId, type: "data_keys.rotated", data: { version, ...sum } }));
  return { version, resumed, ...sum, dropped: await dropOldDataKeys(store, dataKeys, tenantId), complete: true };
}

/**
 * Forgets the older keys of a tenant once nothing needs them: neither people nor cards, nor what lives for minutes, such
 * as messages on their way. True where there is one version left.
 */
export async function dropOldDataKeys(store: Store, dataKeys: DataKeys, tenantId: string): Promise<boolean> {
  const [newest, older] = await dataKeys.versions(tenantId);
  if (!newest || !older) return true;
  if (newest.age < 2 * dataKeyLeadMs || (await isInUse(store, tenantId, newest.version))) return false;
  await dataKeys.dropBefore(tenantId, newest.version);
  return true;
}

const pollMs = 100;

async function untilAged({ dataKeys, tenantId, signal }: RotationTask, version: number, ms: number): Promise<void> {
  while (!signal.aborted) {
    const age = (await dataKeys.versions(tenantId)).find((each) => each.version === version)?.age ?? 0;
    if (age >= ms) return;
    await sleep(Math.min(ms - age, 10 * pollMs));
  }
}

/** The cipher that writes with this version; what is remembered of the time before is at most a second old. */
async function cipherOf({ dataKeys, tenantId, signal }: RotationTask, version: number): Promise<TenantCipher> {
  for (;;) {
    const cipher = await dataKeys.cipher(tenantId);
    if (cipher.version >= version || signal.aborted) return cipher;
    await sleep(pollMs);
  }
}
