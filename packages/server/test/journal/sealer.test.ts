import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { recordEvent } from "../../src/journal/record.ts";
import { sealBatch } from "../../src/journal/seal.ts";
import { sealerLease } from "../../src/journal/sealer.ts";
import { rotateKey } from "../../src/tokens/keys.ts";
import { databases } from "../kit/databases.ts";
import { errorsOf, eventsOfKeys, insertEvents, type JournalKit, openJournalKit } from "./journal-kit.ts";

describe.each(databases)("the journal's sealer on $name", (database) => {
  let kit: JournalKit;
  beforeEach(async () => {
    kit = await openJournalKit(database);
  });
  afterEach(() => kit.close());

  const places = async (tenantId: string) => {
    const rows = await kit.store.db
      .selectFrom("journal_events")
      .select("seq")
      .where("tenant_id", "=", tenantId)
      .orderBy("seq")
      .execute();
    return rows.map((row) => row.seq);
  };
  const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

  it("chains each tenant from 1 without gaps, in the order of the events, and signs the heads", async () => {
    await insertEvents(kit.store, "north", 30);
    await insertEvents(kit.store, "south", 3);
    await kit.seal();

    expect(await places("north")).toEqual(upTo(30));
    expect(await places("south")).toEqual(upTo(3));
    const order = await kit.store.db
      .selectFrom("journal_events")
      .select("at")
      .where("tenant_id", "=", "north")
      .orderBy("seq")
      .execute();
    expect(order.map((row) => row.at)).toEqual(order.map((row) => row.at).toSorted((a, b) => a - b));
    const result = await kit.verify();
    expect(errorsOf(result)).toEqual([]);
    expect(result).toMatchObject({ ok: true, tenants: 3, events: 33 + eventsOfKeys, checkpoints: 3, unsealed: 0 });
    expect(kit.complaints).toEqual([]);
  });

  it("keeps every checkpoint outside the database too, with the key that proves it", async () => {
    await insertEvents(kit.store, "north", 2);
    await kit.seal();
    await insertEvents(kit.store, "north", 2);
    await kit.seal();

    const lines = (await readFile(kit.headFile, "utf8")).trimEnd().split("\n");
    const records = lines.map((line) => JSON.parse(line));
    const checkpoints = records.filter((record) => record.record === "checkpoint" && record.tenantId === "north");
    expect(checkpoints.map((record) => record.seq)).toEqual([2, 4]);
    expect(records[0]).toMatchObject({ record: "key", publicJwk: { kty: "OKP", crv: "Ed25519" } });
    expect(errorsOf(await kit.verify({ headFiles: [kit.headFile] }))).toEqual([]);
  });

  it("seals a late commit behind what is sealed already", async () => {
    await insertEvents(kit.store, "north", 5);
    await kit.seal();
    await kit.store.db
      .insertInto("journal_events")
      .values({
        id: "late",
        tenant_id: "north",
        at: 1,
        type: "login.failed",
        subject: null,
        session_id: null,
        data: "{}",
        seq: null,
        hash: null,
      })
      .execute();
    await kit.seal();

    const late = await kit.store.db.selectFrom("journal_events").select("seq").where("id", "=", "late").execute();
    expect(late).toEqual([{ seq: 6 }]);
    expect(errorsOf(await kit.verify())).toEqual([]);
  });

  it("never forks the chain while writers run and two sealers work without regard for a lease", async () => {
    const second = await kit.openAnother();
    let writing = true;
    const write = async () => {
      for (let count = 0; count < 60; count++) {
        await kit.store.transaction((tx) =>
          recordEvent(tx, { tenantId: count % 3 === 0 ? "south" : "north", type: "session.refreshed" }),
        );
      }
    };
    let races = 0;
    const sealLoop = async (store: typeof second) => {
      while (writing) {
        try {
          await sealBatch(store, 7);
        } catch (error) {
          expect(error).toMatchObject({ name: expect.stringMatching(/SealingRace|StoreUnavailable/) });
          races += 1;
        }
        await new Promise(setImmediate);
      }
    };
    const sealers = [sealLoop(kit.store), sealLoop(second)];
    await Promise.all([write(), write(), write()]);
    writing = false;
    await Promise.all(sealers);
    await kit.seal();

    expect(await places("north")).toEqual(upTo(120));
    expect(await places("south")).toEqual(upTo(60));
    expect(errorsOf(await kit.verify())).toEqual([]);
    if (database.name === "postgres") expect(races).toBeGreaterThan(0);
  });

  it("lets one node at a time seal, and the next one at once after a good stop", async () => {
    const first = kit.startSealer();
    const second = kit.startSealer({ store: await kit.openAnother() });
    await first.sealNow();
    await insertEvents(kit.store, "north", 3);
    await second.sealNow();
    expect(await places("north")).toEqual([null, null, null]);
    await first.stop();
    expect(await places("north")).toEqual(upTo(3));
    await insertEvents(kit.store, "north", 2);
    await second.sealNow();
    expect(await places("north")).toEqual(upTo(5));
    await second.stop();
    expect(await kit.store.db.selectFrom("leases").selectAll().execute()).toEqual([]);
  });

  it("takes over when the lease of a dead sealer has run out", async () => {
    await kit.store.db
      .insertInto("leases")
      .values({ name: sealerLease, holder: "dead", expires_at: Date.now() + 3000 })
      .execute();
    await insertEvents(kit.store, "north", 1);
    const sealer = kit.startSealer();
    await sealer.sealNow();
    expect(await places("north")).toEqual([null]);
    kit.clock.advance(4);
    await sealer.sealNow();
    expect(await places("north")).toEqual([1]);
    await sealer.stop();
  });

  it("signs once a minute where there is something new, and follows a rotated key", async () => {
    const sealer = kit.startSealer();
    const checkpoints = () =>
      kit.store.db
        .selectFrom("journal_checkpoints")
        .select(["seq", "key_id"])
        .where("tenant_id", "=", "north")
        .orderBy("seq")
        .execute();
    await insertEvents(kit.store, "north", 1);
    await sealer.sealNow();
    await insertEvents(kit.store, "north", 1);
    await sealer.sealNow();
    expect(await checkpoints()).toHaveLength(1);
    kit.clock.advance(61);
    await sealer.sealNow();
    kit.clock.advance(61);
    await sealer.sealNow();
    expect(await checkpoints()).toHaveLength(2);

    const next = await rotateKey(kit.store, kit.vault, "journal", { leadSeconds: 5 });
    await insertEvents(kit.store, "north", 1);
    kit.clock.advance(61);
    await sealer.sealNow();
    const signed = await checkpoints();
    expect(signed.map((row) => row.seq)).toEqual([1, 2, 3]);
    expect(signed[2]?.key_id).toBe(next.id);
    expect(signed[1]?.key_id).not.toBe(next.id);
    await sealer.stop();
    expect(errorsOf(await kit.verify({ headFiles: [kit.headFile] }))).toEqual([]);
  });

  it("signs in time while it has much to seal", async () => {
    await insertEvents(kit.store, "north", 400);
    const sealer = kit.startSealer({ batchSize: 20, checkpointSeconds: 0 });
    await sealer.sealNow();
    const signed = await kit.store.db
      .selectFrom("journal_checkpoints")
      .select("seq")
      .where("tenant_id", "=", "north")
      .orderBy("seq")
      .execute();
    expect(signed.length).toBeGreaterThan(10);
    expect(signed.at(-1)).toEqual({ seq: 400 });
    await sealer.stop();
    expect(errorsOf(await kit.verify({ headFiles: [kit.headFile] }))).toEqual([]);
  });

  it("goes on from the last event when its head was moved back or removed, and says so", async () => {
    await insertEvents(kit.store, "north", 3);
    await kit.seal();
    await kit.store.db.deleteFrom("journal_heads").where("tenant_id", "=", "north").execute();
    await insertEvents(kit.store, "north", 1);
    await kit.seal();
    await kit.store.db.updateTable("journal_heads").set({ seq: 2 }).where("tenant_id", "=", "north").execute();
    await insertEvents(kit.store, "north", 1);
    await kit.seal();
    expect(await places("north")).toEqual(upTo(5));
    expect(kit.complaints.filter((text) => text.includes("moved back or removed"))).toHaveLength(2);
    expect(errorsOf(await kit.verify())).toEqual([]);
  });

  it("does not sign a head that is not that of the last event", async () => {
    await insertEvents(kit.store, "north", 2);
    await sealBatch(kit.store, 100);
    await kit.store.db.updateTable("journal_heads").set({ hash: "00" }).where("tenant_id", "=", "north").execute();
    await kit.seal();
    const signed = await kit.store.db.selectFrom("journal_checkpoints").select("tenant_id").execute();
    expect(signed).toEqual([{ tenant_id: "_" }]);
    expect(kit.complaints.join()).toContain("fieldgate journal verify");
  });

  it("waits an outage out and catches up", async () => {
    await insertEvents(kit.store, "north", 4);
    // Every statement of the sealer fails while the table is away.
    await sql`alter table journal_events rename to journal_events_away`.execute(kit.store.db);
    const sealer = kit.startSealer({ sealSeconds: 0.02 });
    await expect.poll(() => kit.complaints.length).toBeGreaterThan(0);
    await sql`alter table journal_events_away rename to journal_events`.execute(kit.store.db);
    await expect.poll(() => places("north")).toEqual(upTo(4));
    await sealer.stop();
    expect(errorsOf(await kit.verify())).toEqual([]);
  });
});
