import { hash } from "@node-rs/argon2";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Fault } from "../../src/fault.ts";
import { findWorker, setPassword } from "../../src/people/workers.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import { goodPassword, startNode, type TestNode } from "../kit/node.ts";
import { guess, signIn } from "./guess.ts";

const ours = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/;

describe.each(databases)("PW2: hashes carry their parameters and grow stronger, on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let node: TestNode;

  beforeAll(async () => {
    database = await fresh();
    node = await startNode({ database: database.config });
    await node.addTenant("demo");
  });
  afterAll(async () => {
    await node?.close();
    await database?.drop();
  });

  const rowOf = (username: string) =>
    node.app.services.store.db
      .selectFrom("workers")
      .selectAll()
      .where("username", "=", username)
      .executeTakeFirstOrThrow();

  /** A worker whose hash came from somewhere else. */
  async function addWithHash(username: string, passwordHash: string): Promise<void> {
    await node.addWorker({ username });
    const { db } = node.app.services.store;
    await db.updateTable("workers").set({ password_hash: passwordHash }).where("username", "=", username).execute();
  }

  type Hash = (password: string) => Promise<string>;

  /** Does something with `instead` in the place of the node's hashing. */
  async function whileHashing<T>(instead: (password: string, hashIt: Hash) => Promise<string>, work: () => Promise<T>) {
    const hasher = node.app.services.hasher as { hash: Hash };
    const real = hasher.hash;
    hasher.hash = (password) => instead(password, real);
    try {
      return await work();
    } finally {
      hasher.hash = real;
    }
  }

  const rehashes = async (username: string) => {
    const { id } = await rowOf(username);
    const { db } = node.app.services.store;
    const events = db.selectFrom("journal_events").select(sql<number>`count(*)`.as("n"));
    const { n } = await events
      .where("type", "=", "worker.password_rehashed")
      .where("subject", "=", id)
      .executeTakeFirstOrThrow();
    return Number(n);
  };

  test("a new hash is argon2id with its parameters and a salt of its own", async () => {
    await node.addWorker({ username: "new-1" });
    await node.addWorker({ username: "new-2" });
    const [one, two] = [await rowOf("new-1"), await rowOf("new-2")];
    expect(one.password_hash).toMatch(ours);
    expect(one.password_hash).not.toBe(two.password_hash);
    expect((await signIn(node, { username: "new-1" })).status).toBe(200);
    expect((await rowOf("new-1")).password_hash).toBe(one.password_hash);
  });

  test.each([
    ["less memory", { memoryCost: 1024, timeCost: 2, parallelism: 1 }],
    ["fewer passes", { memoryCost: 19_456, timeCost: 1, parallelism: 1 }],
    ["argon2i", { memoryCost: 19_456, timeCost: 2, parallelism: 1, algorithm: 1 }],
  ])("a weaker hash (%s) is replaced at sign-in, and only then", async (name, parameters) => {
    const weak = await hash(goodPassword, parameters);
    await addWithHash(name, weak);
    const before = await rowOf(name);

    expect((await guess(node, { username: name })).status).toBe(401);
    expect((await rowOf(name)).password_hash).toBe(weak);

    const login = await signIn(node, { username: name });
    expect(login.status).toBe(200);
    const after = await rowOf(name);
    expect(after.password_hash).toMatch(ours);
    expect(after.credential_version).toBe(before.credential_version);
    expect(await rehashes(name)).toBe(1);

    // The session of that sign-in lives on, and the password is still the password.
    expect((await node.api.refresh(login.body.refreshToken)).status).toBe(200);
    expect((await signIn(node, { username: name })).status).toBe(200);
    expect((await rowOf(name)).password_hash).toBe(after.password_hash);
    expect(await rehashes(name)).toBe(1);
  });

  test("a stronger hash than ours is left as it is", async () => {
    const strong = await hash(goodPassword, { memoryCost: 32_768, timeCost: 3, parallelism: 1 });
    await addWithHash("strong", strong);
    expect((await signIn(node, { username: "strong" })).status).toBe(200);
    expect((await rowOf("strong")).password_hash).toBe(strong);
  });

  test("a disabled worker's weak hash stays; so does one whose password changes meanwhile", async () => {
    const weak = await hash(goodPassword, { memoryCost: 1024, timeCost: 1 });
    await addWithHash("disabled", weak);
    const { db } = node.app.services.store;
    await db.updateTable("workers").set({ disabled_at: 1 }).where("username", "=", "disabled").execute();
    expect((await signIn(node, { username: "disabled" })).status).toBe(401);
    expect((await rowOf("disabled")).password_hash).toBe(weak);

    await addWithHash("changing", weak);
    const { hasher, store } = node.app.services;
    const replaced = await hasher.hash("another-password-altogether");
    await whileHashing(
      async (password, hashIt) => {
        const worker = await findWorker(store, "demo", "changing");
        if (worker) await store.transaction((tx) => setPassword(tx, worker, replaced));
        return hashIt(password);
      },
      () => signIn(node, { username: "changing" }),
    );
    expect((await rowOf("changing")).password_hash).toBe(replaced);
  });

  test("a sign-in stands when there is no time for the stronger hash; the next one makes it", async () => {
    const weak = await hash(goodPassword, { memoryCost: 1024, timeCost: 1 });
    await addWithHash("hurried", weak);
    const noTime = () => Promise.reject(new Fault("busy"));
    const hurried = await whileHashing(noTime, () => signIn(node, { username: "hurried" }));
    expect(hurried.status).toBe(200);
    expect((await rowOf("hurried")).password_hash).toBe(weak);
    expect((await signIn(node, { username: "hurried" })).status).toBe(200);
    expect((await rowOf("hurried")).password_hash).toMatch(ours);
  });
});
