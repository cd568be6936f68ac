import { AuthManager } from "@fieldgate/client";
import { IndexedDbAuthStorageAdapter } from "@fieldgate/client/storage/indexed-db";
import { EntityDataManager, EventApplierService, InternalSyncManager } from "@fieldgate/entity-data";
import { IndexedDbEntityStore, IndexedDbEventStore } from "@fieldgate/entity-data/stores/indexed-db";

export interface PushTimes {
  /** Milliseconds from the first event's leaving to the last one's receipt on the disk. */
  readonly took: number;
  readonly pushed: number;
  readonly duplicates: number;
  readonly rejected: number;
  readonly hasUnsynced: boolean;
}

/** What the benchmark does in a page. */
const device = {
  manager: null as unknown as EntityDataManager,
  events: null as unknown as IndexedDbEventStore,
  auth: null as unknown as AuthManager,
  pulled: 0,

  async open(server: string, tenant: string): Promise<void> {
    device.auth = new AuthManager([], server, new IndexedDbAuthStorageAdapter(tenant));
    device.events = new IndexedDbEventStore(tenant);
    device.manager = new EntityDataManager(
      device.events,
      new IndexedDbEntityStore(tenant),
      new EventApplierService(),
      undefined,
      new InternalSyncManager(),
      device.auth,
    );
    await device.manager.initialize();
  },

  async collect(count: number): Promise<void> {
    const form = (n: number) => ({
      type: "create-individual",
      data: { names: { given: `Person ${n}`, family: "Of the benchmark" }, village: "Kitui", notes: "x".repeat(100) },
    });
    for (let from = 0; from < count; from += 1000) {
      await device.manager.submitForms(Array.from({ length: Math.min(1000, count - from) }, (_, n) => form(from + n)));
    }
  },

  async push(): Promise<PushTimes> {
    let [began, ended] = [0, 0];
    const { pushed, duplicates, rejected } = await device.manager.syncWithSyncServer({
      onProgress({ phase, done }) {
        if (phase === "push" && done === 0) began = performance.now();
        if (phase === "pull") ended ||= performance.now();
      },
    });
    const hasUnsynced = await device.manager.hasUnsyncedEvents();
    return { took: ended - began, pushed, duplicates, rejected: rejected.length, hasUnsynced };
  },

  /** Fills the signed-in person's log with events that nobody will open. */
  async fill(count: number): Promise<void> {
    const [, record] = (await device.auth.keys.list("vault")).find(([id]) => !id.startsWith("device-")) ?? [];
    const owner = record?.owner as string;
    const sealed = new Uint8Array(400);
    for (let from = 0; from < count; from += 5000) {
      const events = Array.from({ length: Math.min(5000, count - from) }, (_, n) => ({
        owner,
        id: crypto.randomUUID(),
        entityId: crypto.randomUUID(),
        sequence: from + n + 1,
        status: "accepted" as const,
        sealed,
        receipt: null,
      }));
      await device.events.append({ events, head: { owner, sequence: from + events.length, sealed } });
    }
  },

  /** Makes events pending, from the end of the log. */
  async reopen(count: number): Promise<void> {
    const [, record] = (await device.auth.keys.list("vault")).find(([id]) => !id.startsWith("device-")) ?? [];
    const owner = record?.owner as string;
    const head = await device.events.head(owner);
    for (let after = (head?.sequence ?? 0) - count; ; ) {
      const page = await device.events.log(owner, { after, limit: 5000 });
      if (page.length === 0) return;
      await device.events.settle(
        owner,
        page.map(({ id }) => ({ id, status: "pending", receipt: null })),
      );
      after = page.at(-1)?.sequence ?? after;
    }
  },

  async hasUnsynced(calls: number): Promise<{ answer: boolean; times: number[] }> {
    const times: number[] = [];
    let answer = false;
    for (let call = 0; call < calls; call++) {
      const began = performance.now();
      answer = await device.manager.hasUnsyncedEvents();
      times.push(performance.now() - began);
    }
    return { answer, times };
  },

  async pull(): Promise<number> {
    const { pulled } = await device.manager.syncWithSyncServer({
      onProgress({ phase, done }) {
        if (phase === "pull") device.pulled = done;
      },
    });
    return pulled;
  },
};

declare global {
  var syncDevice: typeof device;
}

globalThis.syncDevice = device;
