import { randomUUID } from "node:crypto";
import { setImmediate as yieldToOthers } from "node:timers/promises";
import type { Clock } from "../clock.ts";
import { dropLease, holdLease } from "../store/leases.ts";
import type { Store } from "../store/store.ts";
import type { KeyVault } from "../tokens/key-vault.ts";
import { appendCheckpointLines, type CheckpointLine } from "./checkpoint-file.ts";
import { hasUnsealed, SealingRace, sealBatch } from "./seal.ts";
import { createSigningKeys } from "./signing-key.ts";
import { HeadMismatch, tenantsToSign, writeCheckpoint } from "./write-checkpoints.ts";

/** As much of a pino logger as the sealer needs. */
export interface SealerLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export interface SealerOptions {
  readonly clock: Clock;
  readonly log: SealerLog;
  /** Where checkpoints are kept outside the database: `checkpointFile(dataDir)`. */
  readonly checkpointFile: string;
  readonly sealSeconds: number;
  readonly checkpointSeconds: number;
  /** Events in one transaction: few enough that other writers hardly wait. */
  readonly batchSize?: number;
}

export interface Sealer {
  /** Seals everything there is, if no other node is the sealer. Rejects where the timer would only log. */
  sealNow(): Promise<void>;
  /** Seals and signs what is left, as far as the database answers, and lets another node take over at once. */
  stop(): Promise<void>;
}

export const sealerLease = "journal-sealer";
const leaseSeconds = 6;
const renewAfterMs = 2000;
/** What could not be appended to the checkpoint file is kept for the next turn, up to this many lines. */
const pendingLimit = 10_000;

/**
 * The one sealer of the cluster, or one that waits to become it: chains new events each second and signs the heads
 * each minute. The lease only spares nodes double work; the chain itself is safe without it. An outage is logged and
 * waited out, and what happened meanwhile is sealed afterwards.
 */
export function startSealer(store: Store, vault: KeyVault, options: SealerOptions): Sealer {
  const { clock, log, batchSize = 250 } = options;
  const holder = randomUUID();
  const signingKeys = createSigningKeys(vault);
  const pending: CheckpointLine[] = [];
  const writtenKeys = new Set<string>();
  let heldAt = Number.NEGATIVE_INFINITY;
  let signedAt = Number.NEGATIVE_INFINITY;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let current: Promise<void> = Promise.resolve();

  async function isSealer(): Promise<boolean> {
    const now = clock.monotonic();
    if (now - heldAt < renewAfterMs) return true;
    const held = await holdLease(store, sealerLease, holder, leaseSeconds);
    heldAt = held ? now : Number.NEGATIVE_INFINITY;
    return held;
  }

  const isSigningDue = (since: number) => clock.monotonic() - since >= options.checkpointSeconds * 1000;

  /** Seals until nothing waits, or until it is time to sign: a flood of events must not keep checkpoints back. */
  async function sealUntilDue(): Promise<"done" | "due"> {
    const since = clock.monotonic();
    while ((await hasUnsealed(store)) && (await isSealer())) {
      const { events, strayHeads } = await sealBatch(store, batchSize);
      for (const stray of strayHeads) {
        log.error(stray, "a journal head was moved back or removed; the chain goes on from the last sealed event");
      }
      // What has come meanwhile may wait for the next turn.
      if (events < batchSize) break;
      if (isSigningDue(since)) return "due";
      await yieldToOthers();
    }
    return "done";
  }

  async function signAll(): Promise<void> {
    for (const tenantId of await tenantsToSign(store)) {
      try {
        const stored = await writeCheckpoint(store, signingKeys, tenantId);
        if (!stored) continue;
        const { checkpoint, key } = stored;
        log.info({ checkpoint }, "journal checkpoint");
        if (!writtenKeys.has(key.id)) pending.push({ record: "key", keyId: key.id, publicJwk: key.publicJwk });
        writtenKeys.add(key.id);
        pending.push({ record: "checkpoint", ...checkpoint });
      } catch (error) {
        if (!(error instanceof HeadMismatch)) throw error;
        log.error({ err: error, tenantId }, error.message);
      }
    }
  }

  async function writePending(): Promise<void> {
    if (pending.length === 0) return;
    pending.splice(0, pending.length - pendingLimit);
    await appendCheckpointLines(options.checkpointFile, pending);
    pending.length = 0;
  }

  async function turn(last: boolean): Promise<void> {
    for (let state: "done" | "due" = "due"; state === "due"; ) {
      if (!(await isSealer())) return;
      state = await sealUntilDue();
      if (state === "due" || last || isSigningDue(signedAt)) {
        const started = clock.monotonic();
        await signAll();
        signedAt = started;
      }
      await writePending();
    }
  }

  /** One turn at a time, in the order in which they were asked for. */
  function take(last = false): Promise<void> {
    const result = current.then(() => turn(last));
    current = result.catch(() => {
      // Whatever happened, look at the lease again: after a race another node is the sealer.
      heldAt = Number.NEGATIVE_INFINITY;
    });
    return result;
  }

  async function takeQuietly(last = false): Promise<boolean> {
    try {
      await take(last);
      if (failures > 0) log.info({ failures }, "the journal is sealed again");
      failures = 0;
      return true;
    } catch (error) {
      failures += 1;
      // Losing a race once is how a node learns that another has taken over.
      const tell = error instanceof SealingRace ? failures === 5 : failures === 1;
      if (tell || failures % 60 === 0) {
        log.error({ err: error, failures }, "the journal could not be sealed; trying again");
      }
      return false;
    }
  }

  function schedule(): void {
    if (stopped) return;
    timer = setTimeout(() => void takeQuietly().then(schedule), options.sealSeconds * 1000).unref();
  }
  schedule();

  return {
    sealNow: () => take(),
    async stop() {
      if (stopped) return current;
      stopped = true;
      clearTimeout(timer);
      // The lease of a sealer that could not finish is left to run out: its absence says that all is signed.
      if ((await takeQuietly(true)) && heldAt !== Number.NEGATIVE_INFINITY) {
        await dropLease(store, sealerLease, holder).catch((error: unknown) => {
          log.warn({ err: error }, "the lease of the journal sealer was not given back; it runs out by itself");
        });
      }
    },
  };
}
