import { randomUUID } from "node:crypto";
import type { Clock } from "../clock.ts";
import type { Policy } from "../config/policy.ts";
import { dropLease, holdLease } from "../store/leases.ts";
import type { Store } from "../store/store.ts";
import type { KeyVault } from "./key-vault.ts";
import { type KeyRecord, listKeys, type RotatingPurpose, rotateKey, rotatingPurposes } from "./keys.ts";

const everyMs = 60_000;

export interface KeyRotation {
  rotateDue(): Promise<void>;
  stop(): void;
}

/** Replaces keys that have served their time, on one node at a time. */
export function startKeyRotation(
  store: Store,
  vault: KeyVault,
  clock: Clock,
  policy: Policy["keys"],
  onError: (error: unknown) => void,
): KeyRotation {
  const holder = randomUUID();

  async function rotateDue(): Promise<void> {
    if (!(await holdLease(store, "key-rotation", holder, 30))) return;
    try {
      const keys = await listKeys(store);
      for (const purpose of rotatingPurposes.filter((each) => isDue(keys, each, clock.now(), policy))) {
        await rotateKey(store, vault, purpose, { leadSeconds: policy.lead });
      }
    } finally {
      await dropLease(store, "key-rotation", holder);
    }
  }

  const timer = setInterval(() => void rotateDue().catch(onError), everyMs);
  timer.unref();
  return { rotateDue, stop: () => clearInterval(timer) };
}

function isDue(keys: readonly KeyRecord[], purpose: RotatingPurpose, now: number, policy: Policy["keys"]): boolean {
  const newest = keys.findLast((key) => key.purpose === purpose);
  return newest !== undefined && newest.activeFrom + policy.life * 1000 <= now + policy.lead * 1000;
}
