import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { Queries, Store } from "../../src/store/store.ts";
import { StoreUnavailable } from "../../src/store/store.ts";
import { isUniqueViolation } from "../../src/store/unique-violation.ts";
import { databases } from "../kit/databases.ts";
import { freshStore } from "./fresh-store.ts";

const putFact = (q: Queries, name: string, value: string) =>
  q.db.insertInto("deployment").values({ name, value }).execute();

async function facts(q: Queries): Promise<string[]> {
  const rows = await q.db.selectFrom("deployment").select("name").orderBy("name").execute();
  return rows.map((row) => row.name);
}

describe.each(databases)("a store on $name", ({ name: kind, fresh }) => {
  test("says which database it is, and answers a ping", async () => {
    const { store } = await freshStore(fresh);
    expect(store.kind).toBe(kind);
    await store.ping();
  });

  describe("transactions", () => {
    test("keep everything when the work resolves, and give back its result", async () => {
      const { store, another } = await freshStore(fresh);
      const result = await store.transaction(async (tx) => {
        await putFact(tx, "a", "1");
        await putFact(tx, "b", "2");
        return "done";
      });
      expect(result).toBe("done");
      expect(await facts(await another())).toEqual(["a", "b"]);
    });

    test("keep nothing when the work throws, and throw the same error", async () => {
      const { store } = await freshStore(fresh);
      const mistake = new Error("halfway");
      const work = store.transaction(async (tx) => {
        await putFact(tx, "a", "1");
        throw mistake;
      });
      await expect(work).rejects.toBe(mistake);
      expect(await facts(store)).toEqual([]);
      await store.transaction((tx) => putFact(tx, "b", "2"));
      expect(await facts(store)).toEqual(["b"]);
    });

    test("wait for the disk, save where they are told not to, and only then", async () => {
      const { store, another } = await freshStore(fresh);
      const syncOf = async (q: Queries) => {
        const { rows } = await sql<Record<string, unknown>>`${sql.raw(
          q.kind === "sqlite" ? "pragma synchronous" : "show synchronous_commit",
        )}`.execute(q.db);
        return Object.values(rows[0] ?? {})[0];
      };
      const [waits, waitsNot] = kind === "sqlite" ? [2, 1] : ["on", "off"];
      const later = store.transaction(async (tx) => {
        await putFact(tx, "a", "1");
        return syncOf(tx);
      }, "later");
      expect(await later).toBe(waitsNot);
      expect(await facts(await another())).toEqual(["a"]);
      expect(await store.transaction(syncOf)).toBe(waits);

      const failing = store.transaction(() => Promise.reject(new Error("halfway")), "later");
      await expect(failing).rejects.toThrow("halfway");
      expect(await syncOf(store)).toBe(waits);
    });

    test("are not seen by others before they commit", async () => {
      const { store, another } = await freshStore(fresh);
      const other = await another();
      await store.transaction(async (tx) => {
        await putFact(tx, "a", "1");
        expect(await facts(other)).toEqual([]);
        expect(await facts(tx)).toEqual(["a"]);
      });
      expect(await facts(other)).toEqual(["a"]);
    });

    test("that ignore a failed statement keep nothing: what one database forgives, the other would not", async () => {
      const { store } = await freshStore(fresh);
      await putFact(store, "taken", "1");
      const work = store.transaction(async (tx) => {
        await putFact(tx, "a", "1");
        await putFact(tx, "taken", "2").catch(() => {});
      });
      await expect(work).rejects.toThrow();
      const goesOn = store.transaction(async (tx) => {
        await putFact(tx, "taken", "2").catch(() => {});
        await putFact(tx, "b", "1");
      });
      await expect(goesOn).rejects.toThrow();
      expect(await facts(store)).toEqual(["taken"]);
    });

    test("of many callers at once lose no update", async () => {
      const { store, another } = await freshStore(fresh);
      const stores = [store, await another(), await another()];
      await store.db.insertInto("leases").values({ name: "n", holder: "", expires_at: 0 }).execute();
      const raise = (q: Queries) =>
        q.db.updateTable("leases").set({ expires_at: sql<number>`expires_at + 1` }).where("name", "=", "n").execute();
      const turns = Array.from({ length: 60 }, (_, i) => (stores[i % 3] as Store).transaction(raise));
      await Promise.all(turns);
      expect(await store.db.selectFrom("leases").select("expires_at").execute()).toEqual([{ expires_at: 60 }]);
    });

    test("with a conditional update have one winner", async () => {
      const { store, another } = await freshStore(fresh);
      const stores = [store, await another()];
      await store.db.insertInto("leases").values({ name: "n", holder: "", expires_at: 0 }).execute();
      const claims = Array.from({ length: 30 }, (_, i) =>
        (stores[i % 2] as Store).transaction(async (tx) => {
          const claim = tx.db.updateTable("leases").set({ holder: `h${i}`, expires_at: 1 });
          const won = await claim.where("expires_at", "=", 0).returning("holder").execute();
          return won.map((row) => row.holder);
        }),
      );
      const winners = (await Promise.all(claims)).flat();
      expect(winners).toHaveLength(1);
      const [row] = await store.db.selectFrom("leases").select("holder").execute();
      expect(row?.holder).toBe(winners[0]);
    });
  });

  describe("statements", () => {
    test("that break a unique key are told apart from other mistakes", async () => {
      const { store } = await freshStore(fresh);
      await putFact(store, "a", "1");
      const twice = await putFact(store, "a", "2").catch((error: unknown) => error);
      expect(isUniqueViolation(twice)).toBe(true);
      expect(twice).not.toBeInstanceOf(StoreUnavailable);

      const tenant = { name: "T", settings: "{}", version: 1, created_at: 1, updated_at: 1, disabled_at: null };
      await store.db
        .insertInto("tenants")
        .values({ id: "t", ...tenant })
        .execute();
      const worker = {
        ...{ tenant_id: "t", username: "Ana", username_key: "ana", password_hash: null, credential_version: 1 },
        ...{ roles: "[]", created_at: 1, updated_at: 1, disabled_at: null },
      };
      await store.db
        .insertInto("workers")
        .values({ id: "w1", ...worker })
        .execute();
      const sameName = store.db
        .insertInto("workers")
        .values({ id: "w2", ...worker })
        .execute();
      expect(isUniqueViolation(await sameName.catch((error: unknown) => error))).toBe(true);

      const noTenant = store.db.insertInto("tenant_hosts").values({ host: "h", tenant_id: "nobody" }).execute();
      const foreign = await noTenant.catch((error: unknown) => error);
      expect(foreign).toBeInstanceOf(Error);
      expect(isUniqueViolation(foreign)).toBe(false);
      expect(isUniqueViolation(new StoreUnavailable("no"))).toBe(false);
    });

    test("return rows from insert, update, delete and a conditional upsert", async () => {
      const { store } = await freshStore(fresh);
      const { db } = store;
      const row = { name: "a", value: "1" };
      expect(await db.insertInto("deployment").values(row).returningAll().execute()).toEqual([row]);
      expect(await db.updateTable("deployment").set({ value: "2" }).returning("value").execute()).toEqual([
        { value: "2" },
      ]);
      const upsert = (value: string) =>
        db
          .insertInto("deployment")
          .values({ name: "a", value })
          .onConflict((conflict) =>
            conflict.column("name").doUpdateSet({ value }).where("deployment.value", "<", value),
          )
          .returning("value")
          .execute();
      expect(await upsert("3")).toEqual([{ value: "3" }]);
      expect(await upsert("1")).toEqual([]);
      expect(await db.deleteFrom("deployment").returning("name").execute()).toEqual([{ name: "a" }]);
    });

    test("count the rows they change", async () => {
      const { store } = await freshStore(fresh);
      const rows = ["a", "b", "c"].map((name) => ({ name, value: "1" }));
      const inserted = await store.db.insertInto("deployment").values(rows).executeTakeFirst();
      expect(inserted.numInsertedOrUpdatedRows).toBe(3n);
      const changed = store.db.updateTable("deployment").set({ value: "2" }).where("name", "<", "c");
      expect((await changed.executeTakeFirst()).numUpdatedRows).toBe(2n);
      expect((await store.db.deleteFrom("deployment").executeTakeFirst()).numDeletedRows).toBe(3n);
    });

    test("order text by its bytes", async () => {
      const { store } = await freshStore(fresh);
      for (const name of ["b", "A", "a", "B", "é", "_", "z"]) await putFact(store, name, "");
      expect(await facts(store)).toEqual(["A", "B", "_", "a", "b", "z", "é"]);
    });

    test("that are wrong throw, and the next one works", async () => {
      const { store } = await freshStore(fresh);
      await expect(sql`select 1 from nowhere`.execute(store.db)).rejects.toThrow(/nowhere/);
      await store.ping();
    });
  });

  describe("values", () => {
    const largest = Number.MAX_SAFE_INTEGER;

    test("whole numbers come back as they are", async () => {
      const { store } = await freshStore(fresh);
      for (const n of [0, 1, -1, 2 ** 31, 2 ** 40, largest, -largest]) {
        await store.db
          .insertInto("leases")
          .values({ name: `${n}`, holder: "", expires_at: n })
          .execute();
        const rows = await store.db.selectFrom("leases").select("expires_at").where("expires_at", "=", n).execute();
        expect(rows).toEqual([{ expires_at: n }]);
      }
    });

    test("a number that JavaScript cannot hold is an error, not another number", async () => {
      const { store } = await freshStore(fresh);
      await sql`insert into leases (name, holder, expires_at) values ('n', '', 9007199254740993)`.execute(store.db);
      await expect(store.db.selectFrom("leases").selectAll().execute()).rejects.toThrow();
      await store.ping();
    });

    test("sums and counts are numbers, and whole ones divide as such", async () => {
      const { store } = await freshStore(fresh);
      for (const n of [1, 2, 4]) {
        await store.db
          .insertInto("leases")
          .values({ name: `${n}`, holder: "", expires_at: n })
          .execute();
      }
      const { rows } = await sql<{ n: number; half: number }>`
        select count(*) as n, max(expires_at) / ${3} as half from leases`.execute(store.db);
      expect(rows).toEqual([{ n: 3, half: 1 }]);
    });

    test("texts come back as they are", async () => {
      const { store } = await freshStore(fresh);
      const composed = "caf\u00e9";
      const decomposed = "cafe\u0301";
      for (const value of ["", "Ñandú Ωμέγα", "مرحبا", "👩🏽‍🌾", "a'b\"c\\d;--", "x\ny\tz", composed, decomposed]) {
        await putFact(store, `text ${value}`, value);
        const rows = await store.db.selectFrom("deployment").select("value").where("value", "=", value).execute();
        expect(rows).toEqual([{ value }]);
      }
    });

    test("a column refuses what is not of its type", async () => {
      const { store } = await freshStore(fresh);
      const wrong = sql`insert into leases (name, holder, expires_at) values ('n', '', ${"soon"})`;
      await expect(wrong.execute(store.db)).rejects.toThrow();
    });
  });

  describe("the clock", () => {
    test("is the database's, in milliseconds", async () => {
      const { store } = await freshStore(fresh);
      const before = Date.now();
      const row = await store.db.selectNoFrom(store.now.as("now")).executeTakeFirstOrThrow();
      expect(Number.isInteger(row.now)).toBe(true);
      expect(row.now).toBeGreaterThanOrEqual(before - 2);
      expect(row.now).toBeLessThanOrEqual(Date.now() + 2);
    });

    test("goes ahead with the clock that was passed in, also inside a transaction", async () => {
      const clock = { now: () => Date.now() + clock.offset, monotonic: () => performance.now(), offset: 0 };
      const { store } = await freshStore(fresh, { clock });
      const read = async (q: Queries) => (await q.db.selectNoFrom(q.now.as("now")).executeTakeFirstOrThrow()).now;
      for (const days of [35, 90]) {
        clock.offset = days * 24 * 60 * 60 * 1000;
        expect(Math.abs((await read(store)) - clock.now())).toBeLessThan(5000);
        expect(Math.abs((await store.transaction(read)) - clock.now())).toBeLessThan(5000);
      }
    });

    test("can be written, compared and added to", async () => {
      const { store } = await freshStore(fresh);
      const lease = { name: "n", holder: "", expires_at: sql<number>`${store.now} + ${60_000}` };
      await store.db.insertInto("leases").values(lease).execute();
      const living = store.db.selectFrom("leases").select("name").where("expires_at", ">", store.now);
      expect(await living.execute()).toHaveLength(1);
      const later = sql<number>`${store.now} + ${61_000}`;
      expect(await store.db.selectFrom("leases").select("name").where("expires_at", ">", later).execute()).toEqual([]);
    });
  });

  describe("a snapshot", () => {
    test("stays as it was at its first query, while others go on writing", async () => {
      const { store, another } = await freshStore(fresh);
      const other = await another();
      await putFact(store, "before", "");
      await store.snapshot(async (q) => {
        expect(await facts(q)).toEqual(["before"]);
        await putFact(store, "meanwhile", "");
        await other.transaction((tx) => putFact(tx, "by another", ""));
        expect(await facts(q)).toEqual(["before"]);
      });
      expect(await facts(store)).toEqual(["before", "by another", "meanwhile"]);
    });

    test("can only read", async () => {
      const { store } = await freshStore(fresh);
      await expect(store.snapshot((q) => putFact(q, "a", ""))).rejects.toThrow();
      expect(await facts(store)).toEqual([]);
    });
  });

  describe("closing", () => {
    test("waits for the transaction under way, and may be asked for twice", async () => {
      const { store, another } = await freshStore(fresh);
      let begun = () => {};
      const hasBegun = new Promise<void>((resolve) => {
        begun = resolve;
      });
      const work = store.transaction(async (tx) => {
        begun();
        await putFact(tx, "a", "1");
        await putFact(tx, "b", "2");
      });
      await hasBegun;
      await Promise.all([store.close(), store.close(), work]);
      expect(await facts(await another())).toEqual(["a", "b"]);
    });

    test("makes every later query unavailable", async () => {
      const { store } = await freshStore(fresh);
      await store.ping();
      await store.close();
      await expect(store.ping()).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(store.transaction((tx) => putFact(tx, "a", "1"))).rejects.toBeInstanceOf(StoreUnavailable);
    });
  });
});
