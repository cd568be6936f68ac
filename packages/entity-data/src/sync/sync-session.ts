import type { EntityEvent } from "../events/event.ts";
import type { SyncOptions, SyncSummary } from "./progress.ts";
import type { PulledEvent, PushResult } from "./wire.ts";

/** What a sync manager is given of one signed-in person's data, opened. */
export interface SyncSession {
  /** Names this installation to the service, for the audit alone. */
  readonly deviceId: string;
  /** Sends with the person's token, and rejects once they are not the one who is signed in. */
  readonly fetch: typeof fetch;
  countPending(): Promise<number>;
  /** Events that wait to be sent, in their order, after a sequence. */
  pending(after: number, limit: number): Promise<EntityEvent[]>;
  /** Notes the service's word on events. */
  settle(events: readonly EntityEvent[], results: readonly PushResult[]): Promise<void>;
  /** Takes in what came from the service. May be given the same events again. */
  receive(events: readonly PulledEvent[]): Promise<void>;
  /** Makes everything pending again: the service was restored from a backup and may have lost some. */
  reopen(): Promise<void>;
  getState(name: string): Promise<string | null>;
  setState(name: string, value: string): Promise<void>;
}

/** Exchanges events with a sync server. `InternalSyncManager` is the one for Fieldgate's own. */
export interface SyncManager {
  sync(session: SyncSession, options: SyncOptions & { readonly signal: AbortSignal }): Promise<SyncSummary>;
}
