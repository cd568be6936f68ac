import { ConfigurationError } from "@fieldgate/client";
import { runAlone } from "../alone.ts";
import { EntityDataError } from "../errors.ts";
import type { ExternalChange, ExternalResult, ExternalSyncAdapter } from "./external-sync-adapter.ts";

/** What an external sync is given of one person's data, opened. */
export interface ExternalSession {
  readonly deviceId: string;
  /** The person's own events after a sequence, in their order, without those that the service rejected. */
  changes(after: number, limit: number): Promise<readonly ExternalChange[]>;
  /** Keeps with an event why another system did not take it. */
  note(eventId: string, system: string, message: string): Promise<void>;
  getState(name: string): Promise<string | null>;
  setState(name: string, value: string): Promise<void>;
}

export interface ExternalSummary {
  readonly sent: number;
  readonly skipped: number;
  readonly failed: readonly { readonly id: string; readonly message: string }[];
}

export interface ExternalSyncOptions {
  /** Most changes that the adapter gets at once: 50. */
  readonly batchSize?: number;
}

/**
 * Forwards the events that were written on this device to another system, each once, in their order.
 *
 * @example
 * const external = new ExternalSyncManager(new HttpJsonAdapter({ name: "registry", url: "https://registry.example.org/people" }));
 */
export class ExternalSyncManager {
  readonly #adapter: ExternalSyncAdapter;
  readonly #batchSize: number;

  constructor(adapter: ExternalSyncAdapter, { batchSize = 50 }: ExternalSyncOptions = {}) {
    if (!adapter?.name) throw new ConfigurationError("adapter.name", "names no system");
    if (!Number.isInteger(batchSize) || batchSize < 1) {
      throw new ConfigurationError("batchSize", `${batchSize} is not a whole number from 1`);
    }
    this.#adapter = adapter;
    this.#batchSize = batchSize;
  }

  sync(session: ExternalSession, signal: AbortSignal): Promise<ExternalSummary> {
    const lock = `fieldgate-external:${this.#adapter.name}:${session.deviceId}`;
    return runAlone(lock, () => this.#syncAlone(session, signal), signal);
  }

  async #syncAlone(session: ExternalSession, signal: AbortSignal): Promise<ExternalSummary> {
    const place = `external:${this.#adapter.name}`;
    const summary = { sent: 0, skipped: 0, failed: [] as { id: string; message: string }[] };
    let after = Number((await session.getState(place)) ?? 0);
    for (;;) {
      signal.throwIfAborted();
      const changes = await session.changes(after, this.#batchSize);
      const last = changes.at(-1);
      if (!last) return summary;
      for (const result of await this.#send(changes, signal)) {
        if (result.status !== "failed") summary[result.status]++;
        else {
          summary.failed.push({ id: result.id, message: result.message });
          await session.note(result.id, this.#adapter.name, result.message);
        }
      }
      after = last.event.sequence;
      await session.setState(place, String(after));
    }
  }

  async #send(changes: readonly ExternalChange[], signal: AbortSignal): Promise<readonly ExternalResult[]> {
    const results = await this.#adapter.send(changes, { signal });
    const answered = new Set(results.map(({ id }) => id));
    if (changes.every(({ event }) => answered.has(event.id))) return results;
    throw new EntityDataError("refused", `The adapter "${this.#adapter.name}" gave no result for some changes.`);
  }
}
