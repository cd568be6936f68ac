import { describe, expect, test } from "vitest";
import { holdLease } from "../../src/store/leases.ts";
import { purgeExpired, startMaintenance } from "../../src/store/maintenance.ts";
import type { Queries } from "../../src/store/store.ts";
import { databases } from "../kit/databases.ts";
import { freshStore } from "./fresh-store.ts";

const hour = 60 * 60 * 1000;

const session = (id: string, expiresAt: number, revokedAt: number | null) => ({
  ...{ id, tenant_id: "t", user_id: "u", kind: "field-worker", username: "ana", provider: "password", amr: "[]" },
  ...{ acr: "", scope: "", entity_id: null, device_id: null, refresh_key_id: null, counter: 0, head_hash: null },
  ...{ parent_hash: null, jkt: null, created_at: 0, rotated_at: 0, idle_ms: 0, expires_at: expiresAt },
  ...{ absolute_expires_at: expiresAt, revoked_at: revokedAt, revoked_reason: revokedAt === null ? null : "logout" },
});

const message = (id: string, state: string, expiresAt: number, tenantId = "t") => ({
  ...{ id, tenant_id: tenantId, challenge_id: "c", state, medium: "sms", sealed_job: "x", attempts: 0 },
  ...{ channel_index: 0, channel: null, provider_id: null, next_at: 0, claimed_by: null, claimed_until: 0 },
  ...{ created_at: 0, expires_at: expiresAt },
});

async function idsOf(q: Queries, table: "sessions" | "devices" | "dpop_proofs" | "outbox"): Promise<string[]> {
  return (await q.db.selectFrom(table).select("id").orderBy("id").execute()).map((row) => row.id);
}

describe.each(databases)("maintenance on $name", ({ fresh }) => {
  test("removes what has expired and nothing else", async () => {
    const { store } = await freshStore(fresh);
    const now = Date.now();
    const budget = { subject: "s", reserved: 1, failed: 1, locked_until: 0, inflight_until: 0 };
    await store.db
      .insertInto("budgets")
      .values([
        { key: "over", ...budget, expires_at: now - 1000 },
        { key: "living", ...budget, expires_at: now + hour },
      ])
      .execute();
    const proofs = [now - 1000, now + hour].map((expires_at, i) => ({ id: `p${i}`, expires_at }));
    await store.db.insertInto("dpop_proofs").values(proofs).execute();
    const device = { tenant_id: "t", user_id: "u", created_at: 0 };
    const devices = [now - 1000, now + hour].map((expires_at, i) => ({ id: `d${i}`, ...device, expires_at }));
    await store.db.insertInto("devices").values(devices).execute();
    await store.db
      .insertInto("sessions")
      .values([
        session("long over", now - 25 * hour, null),
        session("long over and ended", now - 25 * hour, now - 30 * hour),
        session("just over", now - 23 * hour, null),
        session("just over and ended", now - 23 * hour, now - 30 * hour),
        session("ended long ago", now + hour, now - 1000 * hour),
        session("living", now + hour, null),
      ])
      .execute();

    expect(await purgeExpired(store)).toBe(5);

    expect(await store.db.selectFrom("budgets").select("key").execute()).toEqual([{ key: "living" }]);
    expect(await idsOf(store, "dpop_proofs")).toEqual(["p1"]);
    expect(await idsOf(store, "devices")).toEqual(["d1"]);
    expect(await idsOf(store, "sessions")).toEqual(["ended long ago", "just over", "just over and ended", "living"]);
  });

  test("keeps for a day what became of a message, and what was for nobody no longer than its code", async () => {
    const { store } = await freshStore(fresh);
    const now = Date.now();
    const challenge = { tenant_id: "t", recipient: "r", purpose: "sign-in", key_id: "k", attempts: 0, sent_at: 0 };
    const challenges = [now - hour, now - 1000, now + hour].map((expires_at, i) => ({
      ...{ slot: `s${i}`, id: `c${i}`, ...challenge, expires_at, consumed_at: null },
    }));
    await store.db.insertInto("otp_challenges").values(challenges).execute();
    const handles = [now - 1000, now + hour].map((expires_at, i) => ({
      ...{ hash: `h${i}`, tenant_id: "t", purpose: "selection", sealed_state: "x", expires_at },
    }));
    await store.db.insertInto("handles").values(handles).execute();
    await store.db
      .insertInto("outbox")
      .values([
        message("living", "pending", now + hour),
        message("void and living", "void", now + hour),
        message("void and over", "void", now - 1000),
        ...["sent", "delivered", "failed"].map((state) => message(`${state} today`, state, now - 23 * hour)),
        ...["sent", "delivered", "failed"].map((state) => message(`${state} yesterday`, state, now - 25 * hour)),
      ])
      .execute();

    expect(await purgeExpired(store)).toBe(6);

    const slots = await store.db.selectFrom("otp_challenges").select("slot").orderBy("slot").execute();
    expect(slots).toEqual([{ slot: "s1" }, { slot: "s2" }]);
    expect(await store.db.selectFrom("handles").select("hash").execute()).toEqual([{ hash: "h1" }]);
    const kept = ["delivered today", "failed today", "living", "sent today", "void and living"];
    expect(await idsOf(store, "outbox")).toEqual(kept);
  });

  test("messages for nobody are capped per tenant, the oldest go first, and nothing else goes", async () => {
    const { store } = await freshStore(fresh);
    const later = Date.now() + hour;
    const flood = Array.from({ length: 1300 }, (_, i) => message(`a${String(i).padStart(4, "0")}`, "void", later + i));
    await store.db.insertInto("outbox").values(flood).execute();
    const others = ["b1", "b2", "b3"].map((id) => message(id, "void", later, "quiet"));
    await store.db
      .insertInto("outbox")
      .values([...others, message("sent", "sent", later), message("pending", "pending", later)])
      .execute();

    expect(await purgeExpired(store, { mostVoid: 100 })).toBe(1200);

    const left = await idsOf(store, "outbox");
    expect(left).toHaveLength(105);
    expect(left.slice(0, 2)).toEqual(["a1200", "a1201"]);
    expect(left.slice(-5)).toEqual(["b1", "b2", "b3", "pending", "sent"]);
  });

  test("works through more than a batch, and lets others write meanwhile", async () => {
    const { store } = await freshStore(fresh);
    const proofs = Array.from({ length: 1200 }, (_, i) => ({ id: `p${i}`, expires_at: 1 }));
    await store.db.insertInto("dpop_proofs").values(proofs).execute();
    const purge = purgeExpired(store);
    await store.db
      .insertInto("dpop_proofs")
      .values({ id: "new", expires_at: Date.now() + hour })
      .execute();
    expect(await purge).toBe(1200);
    expect(await idsOf(store, "dpop_proofs")).toEqual(["new"]);
  });

  test("is left to the node that has the lease", async () => {
    const { store } = await freshStore(fresh);
    await store.db.insertInto("dpop_proofs").values({ id: "over", expires_at: 1 }).execute();
    await holdLease(store, "maintenance", "another node", 60);
    expect(await purgeExpired(store)).toBe(0);
    expect(await idsOf(store, "dpop_proofs")).toEqual(["over"]);
  });

  test("stops at once when it is told to", async () => {
    const { store } = await freshStore(fresh);
    const errors: unknown[] = [];
    const maintenance = startMaintenance(store, { onError: (error) => errors.push(error) });
    const start = performance.now();
    await maintenance.stop();
    expect(performance.now() - start).toBeLessThan(1000);
    expect(errors).toEqual([]);
  });
});
