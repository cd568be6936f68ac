import { rename } from "node:fs/promises";
import type { Clock } from "../clock.ts";
import type { DatabaseConfig } from "../config/config.ts";
import { checkpointFile } from "../journal/checkpoint-file.ts";
import { type SealerLog, startSealer } from "../journal/sealer.ts";
import { openStore } from "../store/open-store.ts";
import type { KeyVault } from "../tokens/key-vault.ts";

export interface SettleOptions {
  readonly database: DatabaseConfig;
  readonly clock: Clock;
  readonly vault: KeyVault;
  readonly dataDir: string;
  readonly log: SealerLog;
}

/**
 * Seals and signs a journal that was just restored, as a service does that is stopped in good order. The checkpoints
 * kept so far may be of events that the backup does not have; their file is put aside, and its new name returned.
 */
export async function settleJournal({ database, clock, vault, dataDir, log }: SettleOptions): Promise<string | null> {
  const file = checkpointFile(dataDir);
  const aside = await putAside(file, clock.now());
  const store = await openStore(database, clock);
  try {
    const sealer = startSealer(store, vault, {
      clock,
      log,
      checkpointFile: file,
      sealSeconds: 3600,
      checkpointSeconds: 3600,
    });
    await sealer.stop();
  } finally {
    await store.close();
  }
  return aside;
}

async function putAside(file: string, now: number): Promise<string | null> {
  const stamp = new Date(now).toISOString().replaceAll(/[-:]/g, "").replace(/\.\d+/, "");
  const aside = file.replace(/\.ndjson$/, `.before-restore-${stamp}.ndjson`);
  try {
    await rename(file, aside);
    return aside;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
