import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { openStore } from "../../src/store/open-store.ts";
import { type Queries, type Store, StoreUnavailable } from "../../src/store/store.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres-server.ts";

/** A server of its own, because it is hurt here. */
let server: PostgresServer;
let store: Store;

async function open(url: string, poolSize = 5): Promise<Store> {
  const opened = await openStore({ kind: "postgres", url, poolSize }, systemClock);
  onTestFinished(() => opened.close());
  return opened;
}

const names = (q: Queries) => q.db.selectFrom("deployment").select("name").orderBy("name").execute();
const put = (q: Queries, name: string) => q.db.insertInto("deployment").values({ name, value: "" }).execute();
const unavailable = expect.objectContaining({ name: "StoreUnavailable", cause: expect.any(Error) });

async function failure(work: Promise<unknown>): Promise<{ error: unknown; ms: number }> {
  const start = performance.now();
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  return { error, ms: performance.now() - start };
}

beforeAll(async () => {
  server = await startPostgres();
  const first = await openStore({ kind: "postgres", url: server.url(), poolSize: 1 }, systemClock);
  await first.migrate();
  await first.close();
});
afterAll(() => server.stop());

beforeEach(async () => {
  store = await open(server.url());
  await store.db.deleteFrom("deployment").execute();
});

describe("connections that the server cuts", () => {
  /**
   * Several, so that the pool holds more than one that is dead. This process stands still meanwhile, so that its next
   * query is sent before it can notice.
   */
  async function cutAllUnnoticed(): Promise<void> {
    await Promise.all(Array.from({ length: 4 }, () => sql`select pg_sleep(0.05)`.execute(store.db)));
    const program = fileURLToPath(new URL("programs/cut-connections.ts", import.meta.url));
    expect(spawnSync(process.execPath, [program, server.url()]).status).toBe(0);
  }

  test("are replaced: the next read and the next transaction work", async () => {
    await cutAllUnnoticed();
    expect(await names(store)).toEqual([]);
    await cutAllUnnoticed();
    await store.transaction((tx) => put(tx, "a"));
    await cutAllUnnoticed();
    await store.ping();
    expect(await names(store)).toEqual([{ name: "a" }]);
  });

  test("make a lone write unavailable when nobody knows whether it took place, and the next one works", async () => {
    await cutAllUnnoticed();
    expect((await failure(put(store, "a"))).error).toEqual(unavailable);
    await sleep(20);
    await put(store, "b");
    expect(await names(store)).toEqual([{ name: "b" }]);
  });

  test("in the middle of a transaction end it: unavailable, nothing kept, the next one works", async () => {
    const work = store.transaction(async (tx) => {
      await put(tx, "a");
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx.db);
      await server.run(`select pg_terminate_backend(${rows[0]?.pid})`);
      await sleep(50);
      await put(tx, "b");
    });
    expect((await failure(work)).error).toEqual(unavailable);
    await store.transaction((tx) => put(tx, "c"));
    expect(await names(store)).toEqual([{ name: "c" }]);
  });

  test("while a query runs make it unavailable", async () => {
    const query = failure(sql`select pg_sleep(2)`.execute(store.db));
    await sleep(200);
    await server.run(
      "select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(2)%' and pid <> pg_backend_pid()",
    );
    expect((await query).error).toEqual(unavailable);
    await store.ping();
  });
});

describe("a server that does not do what is asked", () => {
  test("ends a statement after 2.5 s", async () => {
    const { error, ms } = await failure(sql`select pg_sleep(20)`.execute(store.db));
    expect(error).toEqual(unavailable);
    expect(ms).toBeGreaterThan(2000);
    expect(ms).toBeLessThan(4000);
    await store.ping();
  });

  test("does not let a statement wait for another's lock for ever", async () => {
    await put(store, "a");
    const change = (q: Queries) => q.db.updateTable("deployment").set({ value: "x" }).execute();
    await store.transaction(async (tx) => {
      await change(tx);
      const { error, ms } = await failure(store.transaction(change));
      expect(error).toEqual(unavailable);
      expect(ms).toBeLessThan(4000);
    });
  });

  test("has no free connection: whoever waits too long is told", async () => {
    const single = await open(server.url(), 1);
    await single.transaction(async () => {
      const { error, ms } = await failure(single.ping());
      expect(error).toEqual(unavailable);
      expect(ms).toBeLessThan(4000);
    });
    await single.ping();
  });

  test("is read-only: writes are unavailable, reads are not", async () => {
    const standby = await open(`${server.url()}?options=-c%20default_transaction_read_only%3Don`);
    expect((await failure(put(standby, "a"))).error).toEqual(unavailable);
    expect((await failure(standby.transaction((tx) => put(tx, "a")))).error).toEqual(unavailable);
    expect(await names(standby)).toEqual([]);
  });

  test("does not know the database or the password: told without the password", async () => {
    const noDatabase = await open(server.url("nowhere"));
    const { error } = await failure(noDatabase.ping());
    expect(error).toEqual(unavailable);
    expect(String(error)).toContain('database "nowhere" does not exist');
    const url = new URL(server.url());
    url.password = "not-the-password";
    const refused = (await failure((await open(url.href)).ping())).error;
    expect(refused).toEqual(unavailable);
    expect(String(refused)).not.toContain("not-the-password");
  });
});

describe("transactions in each other's way", () => {
  test("that wait for each other crosswise are run again, and all succeed", async () => {
    await Promise.all([put(store, "a"), put(store, "b")]);
    const add = sql<string>`value || 'x'`;
    const both = (first: string, second: string) =>
      store.transaction(async (tx) => {
        await tx.db.updateTable("deployment").set({ value: add }).where("name", "=", first).execute();
        await sql`select pg_sleep(0.1)`.execute(tx.db);
        await tx.db.updateTable("deployment").set({ value: add }).where("name", "=", second).execute();
      });
    await server.run("alter system set deadlock_timeout = '100ms'", "select pg_reload_conf()");
    await Promise.all([both("a", "b"), both("b", "a")]);
    const rows = await store.db.selectFrom("deployment").select("value").execute();
    expect(rows).toEqual([{ value: "xx" }, { value: "xx" }]);
  });

  test("that collide each time give up as unavailable", async () => {
    let runs = 0;
    const work = store.transaction(async (tx) => {
      runs++;
      await sql`do $$ begin raise exception 'no' using errcode = '40001'; end $$`.execute(tx.db);
    });
    expect((await failure(work)).error).toEqual(unavailable);
    expect(runs).toBe(5);
  });
});

test("a table that changes under a prepared statement harms nobody", async () => {
  const single = await open(server.url(), 1);
  const all = (q: Queries) => q.db.selectFrom("leases").selectAll().execute();
  await all(single);
  await server.run("alter table leases add column extra text");
  expect(await all(single)).toEqual([]);
  await single.transaction(all);
  await server.run("alter table leases drop column extra");
  expect(await single.transaction(all)).toEqual([]);
});

describe("a server that is gone", () => {
  test("is unavailable at once, and after its return everything works and nothing is lost", async () => {
    const acknowledged: string[] = [];
    let failed: unknown;
    const writing = (async () => {
      for (let i = 0; i < 100_000 && failed === undefined; i++) {
        const name = `row ${String(i).padStart(6, "0")}`;
        await store
          .transaction((tx) => put(tx, name))
          .then(
            () => acknowledged.push(name),
            (error: unknown) => {
              failed = error;
            },
          );
      }
    })();
    await sleep(300);
    await server.crash();
    await writing;
    expect(failed).toBeInstanceOf(StoreUnavailable);
    expect(acknowledged.length).toBeGreaterThan(10);

    for (const work of [
      () => names(store),
      () => put(store, "x"),
      () => store.transaction(names),
      () => store.ping(),
    ]) {
      const { error, ms } = await failure(work());
      expect(error).toEqual(unavailable);
      expect(ms).toBeLessThan(1000);
    }

    await server.restart();
    const kept = new Set((await names(store)).map((row) => row.name));
    expect(acknowledged.filter((name) => !kept.has(name))).toEqual([]);
    await store.transaction((tx) => put(tx, "afterwards"));
  });

  test("without a word, as behind a cut cable, is unavailable within seconds", async () => {
    const cable = await layCable(new URL(server.url()));
    const far = await open(cable.url, 2);
    await far.ping();
    cable.cut();
    const [query, transaction] = await Promise.all([failure(far.ping()), failure(far.transaction(names))]);
    expect(query.error).toEqual(unavailable);
    expect(transaction.error).toEqual(unavailable);
    expect(Math.max(query.ms, transaction.ms)).toBeLessThan(5000);
    cable.mend();
    await far.ping();
  });
});

/** A TCP proxy that can swallow everything, in silence. */
async function layCable(to: URL): Promise<{ url: string; cut(): void; mend(): void }> {
  let isCut = false;
  const ends = new Set<Socket>();
  const proxy = createServer((near) => {
    const far = connect(Number(to.port), to.hostname);
    for (const [from, onto] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from);
      from.on("data", (bytes) => !isCut && onto.write(bytes));
      from.on("close", () => !isCut && onto.destroy());
      from.on("error", () => {});
    }
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    for (const end of ends) end.destroy();
    proxy.close();
  });
  const url = new URL(to);
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    url: url.href,
    cut: () => {
      isCut = true;
    },
    mend: () => {
      isCut = false;
    },
  };
}
