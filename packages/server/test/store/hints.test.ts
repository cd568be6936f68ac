import { sql } from "kysely";
import { describe, expect, test, vi } from "vitest";
import { sendHint } from "../../src/store/hint.ts";
import type { Store } from "../../src/store/store.ts";
import { databases } from "../kit/databases.ts";
import { freshStore } from "./fresh-store.ts";

let written = 0;

/** What a node does: it changes something, and says so. */
async function change(store: Store, topic: string): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.db
      .insertInto("deployment")
      .values({ name: `${written++}`, value: topic })
      .execute();
    await sendHint(tx, topic);
  });
}

/** Says it until it is heard: the listener may still be on its way. */
async function untilHeard(store: Store, topic: string, heard: ReturnType<typeof vi.fn>): Promise<void> {
  heard.mockClear();
  await vi.waitFor(
    async () => {
      await change(store, topic);
      expect(heard).toHaveBeenCalled();
    },
    { timeout: 15_000, interval: 200 },
  );
}

describe.each(databases)("hints on $name", ({ name, fresh }) => {
  test("reach the listeners of another node, and stop when asked", async () => {
    const { store, another } = await freshStore(fresh);
    const other = await another();
    const heard = vi.fn();
    const alsoHeard = vi.fn();
    const stop = other.onHint("revocations", heard);
    other.onHint("revocations", alsoHeard);
    await untilHeard(store, "revocations", heard);
    stop();
    heard.mockClear();
    await untilHeard(store, "revocations", alsoHeard);
    expect(heard).not.toHaveBeenCalled();
  });

  test("come within a second", async () => {
    const { store, another } = await freshStore(fresh);
    const heard = vi.fn();
    (await another()).onHint("revocations", heard);
    await untilHeard(store, "revocations", heard);
    // Let what the first ones set off come to rest.
    await new Promise((resolve) => setTimeout(resolve, 700));
    heard.mockClear();
    await change(store, "revocations");
    await vi.waitFor(() => expect(heard).toHaveBeenCalled(), { timeout: 1000, interval: 20 });
  });

  test("are not sent by a transaction that is rolled back", async () => {
    const { store, another } = await freshStore(fresh);
    const heard = vi.fn();
    (await another()).onHint("revocations", heard);
    await untilHeard(store, "revocations", heard);
    await new Promise((resolve) => setTimeout(resolve, 700));
    heard.mockClear();
    const work = store.transaction(async (tx) => {
      await tx.db.insertInto("deployment").values({ name: "never", value: "" }).execute();
      await sendHint(tx, "revocations");
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(heard).not.toHaveBeenCalled();
  });

  if (name === "postgres") {
    test("are heard again after the listening connection was cut", async () => {
      const { store, another } = await freshStore(fresh);
      const heard = vi.fn();
      (await another()).onHint("revocations", heard);
      await untilHeard(store, "revocations", heard);
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query ilike 'listen%'`.execute(store.db);
      await untilHeard(store, "revocations", heard);
    });
  }
});
