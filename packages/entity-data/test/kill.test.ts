import { AuthManager } from "@fieldgate/client";
import { MemoryAuthStorageAdapter } from "@fieldgate/client/storage/memory";
import type { SyncPullResponse } from "@fieldgate/contract";
import { afterAll, describe, expect, test } from "vitest";
import { makeCompileCache, startNodeProcess } from "../../server/test/durability/node-process.ts";
import { databases } from "../../server/test/kit/databases.ts";
import { goodPassword, startNode } from "../../server/test/kit/node.ts";
import { publicUrl } from "../../server/test/sessions/deployment.ts";
import { EntityDataManager, EventApplierService, InternalSyncManager } from "../src/index.ts";
import { MemoryEntityStore, MemoryEventStore } from "../src/stores/memory.ts";
import { person } from "./kit/field.ts";

const compileCache = makeCompileCache();
afterAll(() => compileCache.remove());

describe.each(databases)("the service killed with kill -9 in the middle of a push, on $name", ({ fresh }) => {
  test("loses no event and has none twice", { timeout: 60_000 }, async ({ onTestFinished }) => {
    const { config, drop } = await fresh();
    onTestFinished(drop);
    const seeding = await startNode({ database: config });
    await seeding.addTenant("demo");
    await seeding.addWorker({ username: "amina" });
    await seeding.close();

    let node = await startNodeProcess(config, compileCache.folder);
    onTestFinished(() => node.kill());
    const auth = new AuthManager([], publicUrl, new MemoryAuthStorageAdapter("demo"), {
      checkInterval: 0,
      async fetch(input, init) {
        const request = new Request(input, init);
        const { method, headers, signal } = request;
        const body = method === "GET" ? null : await request.text();
        return fetch(request.url.replace(publicUrl, node.api.url), { method, headers, signal, body });
      },
    });
    onTestFinished(() => auth.close());
    const internal = new InternalSyncManager({ batchEvents: 50, firstDelay: 20, longestDelay: 100, tries: 500 });
    const [events, entities] = [new MemoryEventStore(), new MemoryEntityStore()];
    const manager = new EntityDataManager(events, entities, new EventApplierService(), undefined, internal, auth);
    await manager.login({ username: "amina", password: goodPassword });
    const forms = Array.from({ length: 500 }, (_, n) => person(`Person ${n}`));
    const ids = (await manager.submitForms(forms)).map(({ event }) => event.id);

    let restart: Promise<void> | undefined;
    const kill = async () => {
      // The next batch is on its way by then.
      await new Promise((resolve) => setTimeout(resolve, 3));
      await node.kill();
      node = await startNodeProcess(config, compileCache.folder);
    };
    const summary = await manager.syncWithSyncServer({
      onProgress({ phase, done }) {
        if (phase === "push" && done >= 150) restart ??= kill();
      },
    });
    await restart;
    expect([summary.pushed + summary.duplicates, summary.rejected, summary.pulled]).toEqual([500, [], 500]);
    expect(await manager.hasUnsyncedEvents()).toBe(false);
    expect((await manager.getAllEntities()).filter(({ version, unconfirmed }) => version !== 1 || unconfirmed)).toEqual(
      [],
    );

    const seen: string[] = [];
    for (let cursor = "", more = true; more; ) {
      const query = new URLSearchParams({ ...(cursor && { cursor }), limit: "1000" });
      const page = (await (await auth.fetch(`api/sync/pull?${query}`)).json()) as SyncPullResponse;
      seen.push(...page.events.map(({ id }) => id));
      ({ cursor, more } = page);
    }
    expect(seen.sort()).toEqual(ids.sort());
    await manager.close();
  });
});
