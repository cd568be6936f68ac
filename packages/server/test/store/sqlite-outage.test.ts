import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { openStore } from "../../src/store/open-store.ts";
import { type Queries, type Store, StoreUnavailable } from "../../src/store/store.ts";
import { runProgram } from "./programs/program.ts";

const names = async (q: Queries) =>
  (await q.db.selectFrom("deployment").select("name").orderBy("name").execute()).map((row) => row.name);
const put = (q: Queries, name: string, value = "") => q.db.insertInto("deployment").values({ name, value }).execute();
const unavailable = expect.objectContaining({ name: "StoreUnavailable", cause: expect.any(Error) });

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "fieldgate-sqlite-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function storeAt(file: string): Promise<Store> {
  const store = await openStore({ kind: "sqlite", file }, systemClock);
  onTestFinished(() => store.close());
  await store.migrate();
  return store;
}

describe("the file", () => {
  test("and its folder are made for their owner alone", async () => {
    const file = join(temporaryFolder(), "deep", "down", "fieldgate.db");
    const store = await storeAt(file);
    await put(store, "a");
    for (const name of [file, `${file}-wal`, `${file}-shm`]) expect(statSync(name).mode & 0o777).toBe(0o600);
    for (const folder of [dirname(file), dirname(dirname(file))]) expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test("that cannot be opened is named", async () => {
    const folder = temporaryFolder();
    const opened = openStore({ kind: "sqlite", file: folder }, systemClock);
    await expect(opened).rejects.toEqual(unavailable);
    await expect(opened).rejects.toThrow(folder);
  });

  test("that is no database is left alone", async () => {
    const file = join(temporaryFolder(), "notes.txt");
    writeFileSync(file, "not a database, but something that somebody wrote down once ".repeat(100));
    await expect(openStore({ kind: "sqlite", file }, systemClock)).rejects.toEqual(unavailable);
    expect(statSync(file).size).toBe(6000);
  });

  test("keeps what is committed through a loss of power: a write-ahead log, synced in full, and foreign keys", async () => {
    const store = await storeAt(join(temporaryFolder(), "fieldgate.db"));
    const pragma = async (name: string) =>
      Object.values((await sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(store.db)).rows[0] ?? {});
    expect(await pragma("journal_mode")).toEqual(["wal"]);
    expect(await pragma("synchronous")).toEqual([2]);
    expect(await pragma("foreign_keys")).toEqual([1]);
  });
});

describe("a full disk", () => {
  const long = "x".repeat(20_000);

  test("makes writes unavailable and leaves reads alone; when there is room again, everything works", async () => {
    const store = await storeAt(join(temporaryFolder(), "fieldgate.db"));
    await put(store, "before");
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(store.db);
    const limitPages = (pages: number) => sql`pragma max_page_count = ${sql.lit(pages)}`.execute(store.db);
    await limitPages((rows[0]?.page_count ?? 0) + 2);
    await expect(put(store, "alone", long)).rejects.toEqual(unavailable);
    const work = store.transaction(async (tx) => {
      await put(tx, "small");
      await put(tx, "large", long);
    });
    await expect(work).rejects.toEqual(unavailable);
    expect(await names(store)).toEqual(["before"]);
    await limitPages(1_000_000);
    await store.transaction((tx) => put(tx, "large", long));
    expect(await names(store)).toEqual(["before", "large"]);
  });

  test("keeps nothing of a transaction, even of one that does not look at errors", async () => {
    const store = await storeAt(join(temporaryFolder(), "fieldgate.db"));
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(store.db);
    await sql`pragma max_page_count = ${sql.lit((rows[0]?.page_count ?? 0) + 2)}`.execute(store.db);
    const work = store.transaction(async (tx) => {
      await put(tx, "before the error");
      await put(tx, "large", long).catch(() => {});
      await put(tx, "after the error").catch(() => {});
    });
    await expect(work).rejects.toThrow();
    expect(await names(store)).toEqual([]);
  });

  test("that is a real one is survived too", async ({ skip }) => {
    const folder = join(temporaryFolder(), "small-disk");
    mkdirSync(folder);
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", folder]);
    if (mounted.status !== 0) skip("only root can mount a small disk");
    onTestFinished(() => void spawnSync("umount", ["-l", folder]));
    const store = await storeAt(join(folder, "fieldgate.db"));
    await put(store, "before");
    const filler = join(folder, "filler");
    spawnSync("dd", ["if=/dev/zero", `of=${filler}`, "bs=4096"]);
    let failed: unknown;
    for (let i = 0; i < 500 && failed === undefined; i++) {
      await store
        .transaction((tx) => put(tx, `row ${i}`, long))
        .catch((error: unknown) => {
          failed = error;
        });
    }
    expect(failed).toEqual(unavailable);
    expect(await names(store)).toContain("before");
    rmSync(filler);
    await store.transaction((tx) => put(tx, "after", long));
    expect(await names(store)).toContain("after");
    expect((await sql`pragma integrity_check`.execute(store.db)).rows).toEqual([{ integrity_check: "ok" }]);
  });
});

describe("another process that writes", () => {
  test("is waited for, while this one goes on reading and living", async () => {
    const file = join(temporaryFolder(), "fieldgate.db");
    const store = await storeAt(file);
    const holder = runProgram("hold-write-lock", file);
    for await (const _ of holder.lines) break;
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 10);
    onTestFinished(() => clearInterval(ticking));

    let isDone = false;
    const writes = [store.transaction((tx) => put(tx, "in a transaction")), put(store, "alone")];
    const all = Promise.all(writes).then(() => {
      isDone = true;
    });
    for (let i = 0; i < 10; i++) {
      await sleep(40);
      expect(await names(store)).toEqual([]);
    }
    expect(isDone).toBe(false);
    expect(ticks).toBeGreaterThan(15);

    holder.process.stdin?.end();
    await all;
    expect(await names(store)).toEqual(["alone", "held", "in a transaction"]);
  });

  test("for longer than 5 s makes writes unavailable, and only until it is done", async () => {
    const file = join(temporaryFolder(), "fieldgate.db");
    const store = await storeAt(file);
    const holder = runProgram("hold-write-lock", file);
    for await (const _ of holder.lines) break;
    const start = performance.now();
    const results = await Promise.allSettled([store.transaction((tx) => put(tx, "a")), put(store, "b")]);
    expect(performance.now() - start).toBeGreaterThan(4500);
    expect(performance.now() - start).toBeLessThan(8000);
    for (const result of results) expect(result).toEqual({ status: "rejected", reason: unavailable });
    holder.process.stdin?.end();
    await holder.ended;
    await store.transaction((tx) => put(tx, "c"));
    expect(await names(store)).toEqual(["c", "held"]);
  });
});

test("a transaction that waits for its own store is told so, instead of waiting for ever", async () => {
  const store = await storeAt(join(temporaryFolder(), "fieldgate.db"));
  const work = store.transaction(async (tx) => {
    await put(tx, "inside");
    await put(store, "outside");
  });
  await expect(work).rejects.toBeInstanceOf(StoreUnavailable);
  expect(await names(store)).toEqual([]);
  await store.transaction((tx) => put(tx, "next"));
  expect(await names(store)).toEqual(["next"]);
});
