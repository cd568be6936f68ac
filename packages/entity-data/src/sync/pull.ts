import { Unanswered } from "./retry.ts";
import type { SyncSession } from "./sync-session.ts";
import type { SyncPullResponse } from "./wire.ts";

export interface PullParts {
  readonly session: SyncSession;
  readonly pageSize: number;
  /** Rejects with a slow `Unanswered` where a smaller page may get through. */
  readonly get: (query: string, isDivisible: boolean) => Promise<SyncPullResponse>;
  readonly onPage: (count: number, more: boolean) => void;
  readonly signal: AbortSignal;
}

export interface Pulled {
  readonly count: number;
  /** The service was restored from a backup: what it says now begins anew. */
  readonly isRestored: boolean;
}

/**
 * Takes in everything after the cursor, page by page; never more than two pages are in memory. The cursor moves when a page is
 * stored, so a pull that is cut off goes on where it was.
 */
export async function pull(parts: PullParts): Promise<Pulled> {
  const { session, signal } = parts;
  let { pageSize } = parts;
  const ask = async (cursor: string): Promise<SyncPullResponse> => {
    for (;;) {
      const query = new URLSearchParams({ ...(cursor && { cursor }), limit: String(pageSize) });
      try {
        return await parts.get(`?${query}`, pageSize > 1);
      } catch (error) {
        if (!(error instanceof Unanswered) || !error.isSlow) throw error;
        pageSize = Math.ceil(pageSize / 2);
      }
    }
  };
  const epoch = await session.getState("epoch");
  let cursor = (await session.getState("cursor")) ?? "";
  let next = ask(cursor);
  let count = 0;
  for (;;) {
    const page = await next;
    if (epoch && page.epoch && page.epoch !== epoch) {
      await session.reopen();
      await session.setState("cursor", "");
      await session.setState("epoch", page.epoch);
      return { count, isRestored: true };
    }
    if (page.more) {
      next = ask(page.cursor);
      // It is waited for in the next round.
      next.catch(() => 0);
    }
    if (page.events.length > 0) await session.receive(page.events);
    if (page.cursor !== cursor) await session.setState("cursor", page.cursor);
    if (page.epoch && !epoch && count === 0) await session.setState("epoch", page.epoch);
    cursor = page.cursor;
    count += page.events.length;
    parts.onPage(count, page.more);
    if (!page.more) return { count, isRestored: false };
    signal.throwIfAborted();
  }
}
