import { join } from "node:path";
import { AuthManager } from "@fieldgate/client";
import { MemoryAuthStorageAdapter } from "@fieldgate/client/storage/memory";
import type { SyncPullResponse } from "@fieldgate/contract";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { chromiumPath, useChromium } from "../../client/test/kit/chromium.ts";
import { type LossyProxy, startLossyProxy } from "../../client/test/kit/lossy-proxy.ts";
import { amina, useService } from "../../client/test/kit/service.ts";
import { goodPassword } from "../../server/test/kit/node.ts";
import { type Pages, servePage } from "./kit/pages.ts";

const brian = { username: "brian", password: goodPassword };
const secret = "Wanjiru-of-Kitui";

describe.skipIf(chromiumPath === null)("in Chromium", () => {
  let pages: Pages;
  let proxy: LossyProxy;
  const origins: string[] = [];
  const config = { baseUrl: "", audience: "", corsOrigins: origins };
  beforeAll(async () => {
    const root = join(import.meta.dirname, "browser");
    pages = await servePage(root, join(root, "page.ts"));
    proxy = await startLossyProxy();
    origins.push(pages.url);
    Object.assign(config, { baseUrl: proxy.url, audience: proxy.url });
  });
  const service = useService({ config });
  const chromium = useChromium();
  let context: BrowserContext;
  beforeAll(async () => {
    proxy.target = service.url;
    await service.node.addWorker(brian);
  });
  beforeEach(async () => {
    context = await chromium.browser.newContext();
    Object.assign(proxy.loss, { request: 0, answer: 0 });
    proxy.seen.length = 0;
  });
  afterEach(() => context.close());
  afterAll(async () => {
    await proxy?.close();
    await pages?.close();
  });

  /** A page with a manager in it. */
  async function open(batchEvents = 500): Promise<Page> {
    const page = await context.newPage();
    await page.goto(pages.url);
    await page.waitForFunction(() => "kit" in globalThis);
    await page.evaluate(
      async ([server, size]) => {
        const storage = new kit.IndexedDbAuthStorageAdapter("demo");
        globalThis.auth = new kit.AuthManager([], server, storage, { checkInterval: 0 });
        const internal = new kit.InternalSyncManager({
          batchEvents: size,
          firstDelay: 5,
          longestDelay: 50,
          tries: 60,
        });
        globalThis.manager = new kit.EntityDataManager(
          new kit.IndexedDbEventStore("demo"),
          new kit.IndexedDbEntityStore("demo"),
          new kit.EventApplierService(),
          undefined,
          internal,
          auth,
        );
        await manager.initialize();
      },
      [proxy.url, batchEvents] as const,
    );
    return page;
  }
  const login = (page: Page, who = amina) => page.evaluate((credentials) => manager.login(credentials), who);
  const sync = (page: Page) => page.evaluate(() => manager.syncWithSyncServer());
  const submit = (page: Page, count: number, given = "Person") =>
    page.evaluate(
      async ([number, name]) => {
        const form = (n: number) => ({ type: "create-individual", data: { names: { given: `${name} ${n}` } } });
        const submitted = await manager.submitForms(Array.from({ length: number }, (_, n) => form(n)));
        return submitted.map(({ event }) => event.id);
      },
      [count, given] as const,
    );

  /** Every event of the service, as a program elsewhere sees it. */
  async function pullAll(): Promise<SyncPullResponse["events"]> {
    const other = new AuthManager([], proxy.url, new MemoryAuthStorageAdapter("demo"), { checkInterval: 0 });
    await other.login(amina);
    const events: SyncPullResponse["events"] = [];
    for (let cursor = "", more = true; more; ) {
      const query = new URLSearchParams({ ...(cursor && { cursor }), limit: "1000" });
      const page = (await (await other.fetch(`api/sync/pull?${query}`)).json()) as SyncPullResponse;
      events.push(...page.events);
      ({ cursor, more } = page);
    }
    await other.close();
    return events;
  }
  async function expectOnce(ids: readonly string[]): Promise<void> {
    const seen = (await pullAll()).map(({ id }) => id).filter((id) => ids.includes(id));
    expect(seen.sort()).toEqual([...ids].sort());
  }

  /** Everything that lies in the browser's databases, keys apart, as text. */
  const dump = (page: Page) =>
    page.evaluate(async () => {
      const texts: string[] = [];
      const keys: string[] = [];
      const visit = (value: unknown): void => {
        if (value instanceof CryptoKey) keys.push(`${value.type} ${value.extractable}`);
        else if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) {
          const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : new Uint8Array(value.buffer);
          texts.push(new TextDecoder("latin1").decode(bytes));
        } else if (typeof value === "object" && value !== null) Object.entries(value).flat().forEach(visit);
        else texts.push(String(value));
      };
      for (const { name = "" } of await indexedDB.databases()) {
        const database = await new Promise<IDBDatabase>((resolve) => {
          const opening = indexedDB.open(name);
          opening.onsuccess = () => resolve(opening.result);
        });
        for (const store of database.objectStoreNames) {
          const all = database.transaction(store).objectStore(store).getAll();
          await new Promise((resolve) => {
            all.onsuccess = resolve;
          });
          // A key pair's public half may be read.
          for (const record of all.result) visit(record.pair ? record.pair.privateKey : record);
        }
        database.close();
      }
      return { text: texts.join("\n"), keys };
    });

  test.each(["eventStoreConformance", "entityStoreConformance"] as const)("IndexedDB passes %s", async (suite) => {
    const page = await open();
    const failures = await page.evaluate(async (name) => {
      const cases =
        name === "eventStoreConformance"
          ? kit.eventStoreConformance({ create: (tenantId) => new kit.IndexedDbEventStore(tenantId) })
          : kit.entityStoreConformance({ create: (tenantId) => new kit.IndexedDbEntityStore(tenantId) });
      const failed: string[] = [];
      for (const each of cases) await each.run().catch((error) => failed.push(`${each.name}: ${error}`));
      return [cases.length, failed] as const;
    }, suite);
    expect(failures[0]).toBeGreaterThan(7);
    expect(failures[1]).toEqual([]);
  });

  test("the network cut at random, and the tab closed in the middle: nothing lost, nothing twice", async () => {
    const page = await open(20);
    await login(page);
    const ids = await submit(page, 300);
    Object.assign(proxy.loss, { request: 0.1, answer: 0.2 });
    const pushes = () => proxy.seen.filter(({ path }) => path === "/api/sync/push").length;
    page.evaluate(() => manager.syncWithSyncServer()).catch(() => 0);
    await expect.poll(pushes).toBeGreaterThan(3);
    await page.close({ runBeforeUnload: false });

    const again = await open(20);
    expect(await again.evaluate(() => manager.hasUnsyncedEvents())).toBe(true);
    const { pushed, duplicates, rejected } = await sync(again);
    expect(rejected).toEqual([]);
    expect(pushed + duplicates).toBeGreaterThan(0);
    expect(await again.evaluate(() => manager.hasUnsyncedEvents())).toBe(false);
    Object.assign(proxy.loss, { request: 0, answer: 0 });
    await expectOnce(ids);
    expect(await again.evaluate(() => manager.verifyEvents())).toMatchObject({ intact: true, checked: 300 });
  });

  test("two tabs write and sync at once: one log without a gap, each event once", async () => {
    const tabs = [await open(50), await open(50)] as const;
    await login(tabs[0]);
    await expect.poll(() => tabs[1].evaluate(() => manager.isAuthenticated())).toBe(true);
    const ids = (await Promise.all(tabs.flatMap((tab) => [submit(tab, 60), submit(tab, 60)]))).flat();
    expect(new Set(ids).size).toBe(240);
    const [first, second] = await Promise.all(tabs.map(sync));
    expect((first?.pushed ?? 0) + (second?.pushed ?? 0)).toBe(240);
    expect((first?.duplicates ?? 0) + (second?.duplicates ?? 0)).toBe(0);
    await expectOnce(ids);
    expect(await tabs[1].evaluate(() => manager.verifyEvents())).toMatchObject({ intact: true, checked: 240 });
    expect(await tabs[1].evaluate(() => manager.getUnsyncedEventsCount())).toBe(0);
  });

  test("a device whose clock is two days wrong syncs, and its time is kept as it said", async () => {
    await context.addInitScript(() => {
      const { now } = Date;
      const ahead = 2 * 86_400_000;
      globalThis.Date = new Proxy(Date, {
        construct: (target, args) => Reflect.construct(target, args.length > 0 ? args : [now() + ahead]),
      });
      Date.now = () => now() + ahead;
    });
    const page = await open();
    await login(page);
    const [id] = await submit(page, 1, "Ahead");
    expect(await sync(page)).toMatchObject({ pushed: 1, rejected: [] });
    const event = (await pullAll()).find((each) => each.id === id);
    const ahead = Date.parse(event?.deviceTime ?? "") - Date.parse(event?.receivedAt ?? "");
    expect(Math.round(ahead / 86_400_000)).toBe(2);
  });

  test("a raw dump tells nothing: before a sign-in, signed in, after a logout, and to the next person", async () => {
    const page = await open();
    await submit(page, 1, `${secret}-before`);
    expect((await dump(page)).text).not.toContain(secret);
    await login(page);
    await submit(page, 1, `${secret}-after`);
    expect(await page.evaluate((text) => manager.searchEntities(text), secret)).toHaveLength(2);
    const signedIn = await dump(page);
    expect(signedIn.text).not.toContain(secret);
    expect(signedIn.text).not.toContain("create-individual");
    expect(signedIn.keys.filter((key) => key.endsWith("true"))).toEqual([]);
    const secretKeys = (keys: string[]) => keys.filter((key) => key.startsWith("secret")).length;

    expect(await page.evaluate(() => manager.logout())).toEqual({ unsynced: 2 });
    const left = await dump(page);
    expect(left.text).not.toContain(secret);
    // The session's and the device's are left; the one that opens her data is not.
    expect([secretKeys(signedIn.keys), secretKeys(left.keys)]).toEqual([3, 2]);
    expect(await page.evaluate(() => manager.hasUnsyncedEvents())).toBe(true);
    const opened = await page.evaluate(async () => {
      // Every key that is left, tried on every event.
      const [vault, all] = await Promise.all([auth.keys.list("vault"), new kit.IndexedDbEventStore("demo")]);
      const owners = new Set<string>();
      const opening = indexedDB.open("fieldgate-data:demo");
      await new Promise((resolve) => {
        opening.onsuccess = resolve;
      });
      const reading = opening.result.transaction("events").objectStore("events").getAll();
      await new Promise((resolve) => {
        reading.onsuccess = resolve;
      });
      let readable = 0;
      for (const { owner, id, entityId, sealed } of reading.result) {
        owners.add(owner);
        for (const [, { key }] of vault) {
          const additionalData = new TextEncoder().encode(`${owner} event ${id} of ${entityId}`);
          const algorithm = { name: "AES-GCM", iv: sealed.slice(0, 12), additionalData };
          await crypto.subtle.decrypt(algorithm, key, sealed.slice(12)).then(
            () => readable++,
            () => 0,
          );
        }
      }
      opening.result.close();
      await all.close();
      return { events: reading.result.length, owners: owners.size, readable };
    });
    expect(opened).toEqual({ events: 2, owners: 1, readable: 0 });

    await login(page, brian);
    expect(await page.evaluate(() => manager.getAllEntities())).toEqual([]);
    expect(await page.evaluate(() => manager.hasUnsyncedEvents())).toBe(false);
    await sync(page);
    expect(await page.evaluate((text) => manager.searchEntities(text), secret)).toEqual([]);
    await page.evaluate(() => manager.logout());
    await login(page);
    expect(await sync(page)).toMatchObject({ pushed: 2 });
  });

  test("an app that is opened again offline still reads and collects", async () => {
    const page = await open();
    await login(page);
    await submit(page, 2, "Kept");
    await page.close();
    Object.assign(proxy.loss, { request: 1, answer: 1 });
    const again = await open();
    expect(await again.evaluate(() => auth.state.status)).toMatch(/signedIn|offlineGrace/);
    expect(await again.evaluate(() => manager.searchEntities("kept"))).toHaveLength(2);
    await submit(again, 1, "Kept too");
    expect(await again.evaluate(() => manager.getUnsyncedEventsCount())).toBe(3);
    Object.assign(proxy.loss, { request: 0, answer: 0 });
    expect(await sync(again)).toMatchObject({ pushed: 3, duplicates: 0 });
  });
});
