import { setTimeout as sleep } from "node:timers/promises";
import type { SyncEvent } from "@fieldgate/contract";
import { sql } from "kysely";
import { afterAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { eventRow } from "../../src/flows/sync-content.ts";
import { openStore } from "../../src/store/open-store.ts";
import { appendRows, lockLog } from "../../src/store/sync-log.ts";
import { makeCompileCache, startNodeProcess } from "../durability/node-process.ts";
import { databases } from "../kit/databases.ts";
import { startNode } from "../kit/node.ts";
import { publicUrl } from "../sessions/deployment.ts";
import { Device, person } from "./device.ts";

/** How often the node is killed; `FIELDGATE_RUNS=100` for a long night. */
const kills = Number(process.env.FIELDGATE_RUNS ?? 2);

const compileCache = makeCompileCache();
afterAll(() => compileCache.remove());

describe.each(databases)("pushed events on $name", ({ name, fresh }) => {
  test(
    "survive kill -9 in the middle of pushes: nothing is lost, and what is sent again is there once",
    async ({ onTestFinished }) => {
      const { config, drop } = await fresh();
      onTestFinished(drop);
      const seed = await startNode({ database: config, config: { baseUrl: publicUrl, audience: publicUrl } });
      await seed.addTenant("demo", { defaultCountry: "KE" });
      await seed.addWorker({ username: "amina" });
      const { token } = await Device.ofWorker(seed, "amina");
      await seed.close();

      const batches: SyncEvent[][] = [];
      const acknowledged = new Set<string>();
      let node = await startNodeProcess(config, compileCache.folder);
      onTestFinished(() => node.kill());
      for (let round = 0; round < kills; round += 1) {
        const device = new Device(node.api, token);
        let killed = false;
        /** Pushes without a pause until the node is gone. */
        const work = async () => {
          while (!killed) {
            const batch = Array.from({ length: 40 }, (_, index) =>
              device.event("create-individual", person("P", index % 8 ? {} : { emails: [`p${Math.random()}@x.org`] })),
            );
            batches.push(batch);
            const results = await device.push(...batch).catch((error: unknown) => {
              if (killed) return [];
              throw error;
            });
            for (const { id } of results.filter(({ status }) => status === "accepted")) acknowledged.add(id);
          }
        };
        const enough = acknowledged.size + 200;
        const working = Promise.all([work(), work()]);
        while (acknowledged.size < enough) await Promise.race([sleep(1), working]);
        killed = true;
        await node.kill();
        await working;

        node = await startNodeProcess(config, compileCache.folder);
        const again = new Device(node.api, token);
        for (const batch of batches) {
          for (const { id, status } of await again.push(...batch)) {
            if (acknowledged.has(id)) expect(status).toBe("duplicate");
            expect(status).not.toBe("rejected");
            acknowledged.add(id);
          }
        }
        const { events } = await again.pull();
        expect(events.map(({ id }) => id).sort()).toEqual(
          batches
            .flat()
            .map(({ id }) => id)
            .sort(),
        );
        expect(events.map(({ position }) => Number(position))).toEqual(events.map((_, index) => index + 1));
      }
    },
    60_000 + kills * 20_000,
  );

  test("are never passed over by a cursor, however late a push before them commits", async ({ onTestFinished }) => {
    const { config, drop } = await fresh();
    onTestFinished(drop);
    const node = await startNode({ database: config });
    onTestFinished(() => node.close());
    await node.addTenant("demo");
    await node.addTenant("neighbour");
    for (const tenantId of ["demo", "neighbour"]) await node.addWorker({ username: "amina", tenantId });
    const device = await Device.ofWorker(node, "amina");
    const neighbour = await Device.ofWorker(node, "amina", "neighbour");
    await device.pushAll(device.event("visit", { n: 0 }));
    const cipher = await node.app.services.dataKeys.cipher("demo");

    // Another node has its place in the log, and takes its time to commit.
    const other = await openStore(config, systemClock);
    onTestFinished(() => other.close());
    let commit = () => {};
    const mayCommit = new Promise<void>((resolve) => {
      commit = resolve;
    });
    let inside = () => {};
    const isInside = new Promise<void>((resolve) => {
      inside = resolve;
    });
    const late = device.event("visit", { n: 1 });
    const slow = other.transaction(async (tx) => {
      const head = await lockLog(tx, "demo");
      const { id, entityId, data: _data, ...rest } = late;
      await appendRows(tx, [
        eventRow(cipher, {
          ...{ ...rest, id, entityId, version: 1, status: "applied", deviceId: "d", claimedDevice: "d" },
          ...{ author: { userId: "u", username: "u" }, position: head.position + 1, receivedAt: head.now },
          dataText: JSON.stringify(late.data),
        }),
      ]);
      inside();
      await mayCommit;
    });
    await isInside;
    const next = device.event("visit", { n: 2 });
    const pushing = device.pushAll(next);
    // Readers wait for nobody, and a neighbour's pushes neither, where the database can write two things at once.
    const first = await device.pull();
    expect(first.events.map(({ data }) => data)).toEqual([{ n: 0 }]);
    if (name === "postgres") await neighbour.pushAll(neighbour.event("visit", {}));
    await sleep(300);
    const second = await device.pull(first.cursor);
    expect(second.events).toEqual([]);
    commit();
    await slow;
    await pushing;
    const third = await device.pull(second.cursor);
    expect(third.events.map(({ data, position }) => [position, data])).toEqual([
      ["2", { n: 1 }],
      ["3", { n: 2 }],
    ]);
  });

  test("cannot be taken while the database cannot write: a 503, nothing of it kept, and all is well after", async ({
    onTestFinished,
  }) => {
    const { config, drop } = await fresh();
    onTestFinished(drop);
    const node = await startNode({ database: config });
    onTestFinished(() => node.close());
    await node.addTenant("demo");
    await node.addWorker({ username: "amina" });
    const device = await Device.ofWorker(node, "amina");
    await device.pushAll(device.event("visit", {}));
    const { store } = node.app.services;
    const batch = Array.from({ length: 20 }, () => device.event("visit", { text: "x".repeat(20_000) }));
    if (name === "sqlite") {
      // As much room as it has now, and no more: what a full disk is to SQLite.
      await sql`pragma max_page_count = 1`.execute(store.db);
    } else {
      await sql`create or replace function full_disk() returns trigger language plpgsql as
        'begin raise exception ''no space left'' using errcode = ''53100''; end'`.execute(store.db);
      await sql`create trigger full_disk before insert on sync_events execute function full_disk()`.execute(store.db);
    }
    const refused = await device.send({ deviceId: "d", events: batch });
    expect([refused.status, refused.body.code], refused.text).toEqual([503, "unavailable"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await device.pull()).events).toHaveLength(1);
    if (name === "sqlite") await sql`pragma max_page_count = 1000000`.execute(store.db);
    else await sql`drop trigger full_disk on sync_events`.execute(store.db);
    await device.pushAll(...batch);
    expect((await device.pull()).events).toHaveLength(21);
  });
});
