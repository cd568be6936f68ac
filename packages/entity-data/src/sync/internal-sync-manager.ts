import { ConfigurationError } from "@fieldgate/client";
import { runAlone } from "../alone.ts";
import { EntityDataError } from "../errors.ts";
import type { SyncOptions, SyncProgress, SyncSummary } from "./progress.ts";
import { pull } from "./pull.ts";
import { type Pushed, type PushLimits, push } from "./push.ts";
import { ask, Unwelcome } from "./request.ts";
import { type RetryPolicy, retry } from "./retry.ts";
import type { SyncManager, SyncSession } from "./sync-session.ts";
import type { SyncPullResponse, SyncPushResponse } from "./wire.ts";

/** Everything has a working default. Durations are milliseconds. */
export interface InternalSyncOptions extends Partial<PushLimits>, Partial<RetryPolicy> {
  /** Events of a pulled page: 500. */
  readonly pageSize?: number;
  /** How long an answer may take: 60,000. */
  readonly timeout?: number;
}

type Settings = Required<InternalSyncOptions>;

/** What the service takes at most (`packages/contract`, sync.ts); a batch stays a little below. */
export const serverLimits = { batchEvents: 500, batchBytes: 1024 * 1024, eventBytes: 256 * 1024, pageSize: 1000 };

const defaults: Settings = {
  ...serverLimits,
  batchBytes: 1_000_000,
  pageSize: 500,
  timeout: 60_000,
  tries: 6,
  firstDelay: 500,
  longestDelay: 30_000,
};

/**
 * Exchanges events with Fieldgate's sync server: pushes in batches, pulls by cursor. It may be cut off anywhere: what the service
 * has is known by event id, so that nothing is lost and nothing happens twice.
 *
 * @example
 * const manager = new EntityDataManager(events, entities, appliers, undefined, new InternalSyncManager(), auth);
 */
export class InternalSyncManager implements SyncManager {
  readonly #settings: Settings;

  constructor(options: InternalSyncOptions = {}) {
    this.#settings = { ...defaults, ...options };
    for (const [name, value] of Object.entries(this.#settings)) {
      const most = serverLimits[name as keyof typeof serverLimits] ?? Infinity;
      if (!Number.isInteger(value) || value < 1 || value > most) {
        throw new ConfigurationError(
          name,
          `${value} is not a whole number from 1${most < Infinity ? ` to ${most}` : ""}`,
        );
      }
    }
  }

  /** One sync at a time in this browser: another one waits for it, and then has little to do. */
  sync(session: SyncSession, options: SyncOptions & { readonly signal: AbortSignal }): Promise<SyncSummary> {
    const { signal, onProgress = () => {} } = options;
    onProgress({ phase: "wait", done: 0, total: 0 });
    return runAlone(`fieldgate-sync:${session.deviceId}`, () => this.#syncAlone(session, signal, onProgress), signal);
  }

  async #syncAlone(
    session: SyncSession,
    signal: AbortSignal,
    onProgress: (progress: SyncProgress) => void,
  ): Promise<SyncSummary> {
    const pushed: Pushed[] = [];
    let pulled = 0;
    for (let isRestored = true; isRestored; ) {
      pushed.push(await this.#push(session, signal, onProgress));
      const result = await this.#pull(session, signal, onProgress);
      pulled += result.count;
      isRestored = result.isRestored;
    }
    return {
      pushed: pushed.reduce((sum, { accepted }) => sum + accepted, 0),
      duplicates: pushed.reduce((sum, { duplicates }) => sum + duplicates, 0),
      rejected: pushed.flatMap(({ rejected }) => rejected),
      pulled,
    };
  }

  async #push(session: SyncSession, signal: AbortSignal, onProgress: (progress: SyncProgress) => void) {
    const waiting = await session.countPending();
    let done = 0;
    const tell = () => onProgress({ phase: "push", done, total: Math.max(done, waiting) });
    tell();
    return push({
      session,
      limits: this.#settings,
      signal,
      send: (body, count) => this.#ask<SyncPushResponse>(session, signal, count > 1, "api/sync/push", body),
      onSettled(count) {
        done += count;
        tell();
      },
    });
  }

  #pull(session: SyncSession, signal: AbortSignal, onProgress: (progress: SyncProgress) => void) {
    const { pageSize } = this.#settings;
    onProgress({ phase: "pull", done: 0, total: 0 });
    return pull({
      session,
      pageSize,
      signal,
      get: (query, isDivisible) =>
        this.#ask<SyncPullResponse>(session, signal, isDivisible, `api/sync/pull${query}`).catch((error) => {
          if (!(error instanceof Unwelcome)) throw error;
          const details = { problem: error.code, cause: error };
          throw new EntityDataError("refused", `The service refused: ${error.message}`, details);
        }),
      onPage: (done, more) => onProgress({ phase: "pull", done, total: more ? done + pageSize : done }),
    });
  }

  #ask<T>({ fetch }: SyncSession, signal: AbortSignal, isDivisible: boolean, path: string, body?: string): Promise<T> {
    const { timeout } = this.#settings;
    return retry(this.#settings, signal, () => ask<T>({ fetch, signal, timeout }, path, body), isDivisible);
  }
}
