import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PasswordHasher } from "../../src/people/password-hash.ts";
import { MovableClock } from "../kit/clock.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import type { TestNode } from "../kit/node.ts";
import { address, guess, guesses, retryAfter, signIn, startBehindProxy } from "./guess.ts";

describe.each(databases)("PW4: failures have budgets, on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let node: TestNode;
  const clock = new MovableClock();

  beforeAll(async () => {
    database = await fresh();
    node = await startBehindProxy({ database: database.config, clock });
    await node.addTenant("demo");
    const names = ["sliding", "locked", "cleared", "Amina Bello", "session", "rows", "opening", "v6", "slow"];
    for (const username of names) await node.addWorker({ username });
  });
  afterAll(async () => {
    await node?.close();
    await database?.drop();
  });

  test("five failures a minute for one user from one address; Retry-After says when it opens", async () => {
    const who = { username: "sliding", from: "192.0.2.1" };
    expect(await guesses(node, 5, () => who)).toEqual([401, 401, 401, 401, 401]);
    const refused = await guess(node, who);
    expect([refused.status, refused.body.code]).toEqual([429, "too_many_attempts"]);
    const wait = retryAfter(refused);
    expect(wait).toBeGreaterThan(50);
    expect(wait).toBeLessThanOrEqual(60);

    // The right password does not help, nor does another user's budget suffer, nor this user's elsewhere.
    expect((await signIn(node, who)).status).toBe(429);
    expect((await guess(node, { ...who, username: "someone-else" })).status).toBe(401);
    expect((await guess(node, { ...who, from: "192.0.2.2" })).status).toBe(401);

    clock.advance(wait - 5);
    expect((await guess(node, who)).status).toBe(429);
    clock.advance(5);
    expect((await signIn(node, who)).status).toBe(200);
  });

  test("an IPv6 subscriber has one budget, however many addresses", async () => {
    const spellings = ["2001:db8:7:1::1", "2001:DB8:7:1::2", "2001:db8:7:1:0:0:0:3", "2001:db8:7:1:a:b:c:d"];
    spellings.push("[2001:db8:7:1::5]:4711");
    expect(await guesses(node, 5, (turn) => ({ username: "v6", from: spellings[turn] ?? "" }))).not.toContain(429);
    expect((await guess(node, { username: "v6", from: "2001:db8:7:1::ffff" })).status).toBe(429);
    expect((await guess(node, { username: "v6", from: "2001:db8:7:2::1" })).status).toBe(401);
  });

  test("ten failures from anywhere, then a lock that doubles from 30 s to 1 h", async () => {
    const who = (turn: number) => ({ username: "locked", from: address(turn) });
    expect(new Set(await guesses(node, 10, who))).toEqual(new Set([401]));
    let turn = 10;
    for (const lock of [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]) {
      const refused = await guess(node, who(turn++));
      expect(refused.status, `lock of ${lock} s`).toBe(429);
      const wait = retryAfter(refused);
      expect(wait).toBeLessThanOrEqual(lock);
      expect(wait).toBeGreaterThan(lock - 10);
      clock.advance(wait - 5);
      expect((await signIn(node, who(turn++))).status, `${lock} s are not over`).toBe(429);
      clock.advance(5);
      expect((await guess(node, who(turn++))).status, `${lock} s are over`).toBe(401);
    }
  });

  test("a lock that opens lets one guess in, and tells the others the truth", async () => {
    expect(new Set(await guesses(node, 10, (turn) => ({ username: "opening", from: address(turn) })))).not.toContain(
      429,
    );
    clock.advance(31);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, turn) => guess(node, { username: "opening", from: address(100 + turn) })),
    );
    const open = answers.filter(({ status }) => status === 401);
    const refused = answers.filter(({ status }) => status === 429);
    expect([open.length, refused.length]).toEqual([1, 7]);
    for (const answer of refused) expect(retryAfter(answer)).toBeLessThanOrEqual(60);

    // An honest burst at that moment passes whole.
    clock.advance(61);
    const honest = await Promise.all(
      Array.from({ length: 8 }, (_, turn) => signIn(node, { username: "opening", from: address(200 + turn) })),
    );
    expect(honest.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  });

  test("a success forgets the failures of the user, but not the minute of the address", async () => {
    const who = (turn: number) => ({ username: "cleared", from: address(turn) });
    expect(await guesses(node, 9, who)).not.toContain(429);
    expect((await signIn(node, who(20))).status).toBe(200);
    expect(await guesses(node, 9, (turn) => who(30 + turn))).not.toContain(429);
    expect((await signIn(node, who(50))).status).toBe(200);

    const here = who(60);
    expect(await guesses(node, 3, () => here)).not.toContain(429);
    expect((await signIn(node, here)).status).toBe(200);
    expect(await guesses(node, 2, () => here)).not.toContain(429);
    expect((await guess(node, here)).status).toBe(429);
  });

  test("all spellings of a username share one budget", async () => {
    const spellings = ["Amina Bello", "AMINA BELLO", " amina bello\t", "ａｍｉｎａ　ｂｅｌｌｏ", "amina\u00a0bello"];
    const from = "192.0.2.40";
    expect(await guesses(node, 5, (turn) => ({ username: spellings[turn] ?? "", from }))).not.toContain(429);
    for (const username of [...spellings, "𝐀𝐦𝐢𝐧𝐚 𝐁𝐞𝐥𝐥𝐨"]) {
      expect((await guess(node, { username, from })).status, username).toBe(429);
    }
    // The alias is the same field.
    const { status } = await node.api.login(
      { email: "Amina Bello", password: "x" },
      { headers: { "x-forwarded-for": from } },
    );
    expect(status).toBe(429);
    expect((await signIn(node, { username: "ＡＭＩＮＡ Bello ", from: "192.0.2.41" })).status).toBe(200);
  });

  test("a lock-out ends no session", async () => {
    const { body } = await signIn(node, { username: "session", from: "192.0.2.50" });
    expect(new Set(await guesses(node, 10, (turn) => ({ username: "session", from: address(turn) })))).not.toContain(
      429,
    );
    expect((await signIn(node, { username: "session", from: "192.0.2.51" })).status).toBe(429);
    expect((await node.api.checkToken(body.token)).status).toBe(200);
    expect((await node.api.me(body.token)).status).toBe(200);
    const refreshed = await node.api.refresh(body.refreshToken);
    expect(refreshed.status).toBe(200);
    expect((await node.api.logout({ token: refreshed.body.token })).status).toBe(204);
  });

  test("budgets and journal say neither who nor where", async () => {
    await guesses(node, 3, () => ({ username: "rows", from: "192.0.2.60" }));
    await guesses(node, 2, () => ({ username: "Nobody.Special", tenantId: "nowhere", from: "2001:db8:99::1" }));
    const { db } = node.app.services.store;
    const kept = JSON.stringify([
      await db.selectFrom("budgets").selectAll().execute(),
      await db.selectFrom("journal_events").selectAll().execute(),
    ]).toLowerCase();
    const traces = ["rows", "nobody", "special", "192.0.2", "2001:db8", "nowhere", "password-of-anyone"];
    for (const trace of traces) {
      expect(kept.replaceAll('"way":"password"', ""), trace).not.toContain(trace);
      for (const coded of ["base64", "base64url", "hex"] as const) {
        const hidden = Buffer.from(trace).toString(coded).replace(/=+$/, "").slice(0, -1).toLowerCase();
        if (hidden.length > 6) expect(kept, `${trace} as ${coded}`).not.toContain(hidden);
      }
    }
  });

  test("an attempt that takes longer than it counts for leaves no room for more", async () => {
    const hasher = node.app.services.hasher as { verify: PasswordHasher["verify"] };
    const { verify } = hasher;
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    hasher.verify = async (...args) => {
      hasher.verify = verify;
      await held;
      return verify(...args);
    };
    const who = { username: "slow", from: "192.0.2.80" };
    const slow = signIn(node, who);
    await expect.poll(() => hasher.verify).toBe(verify);
    clock.advance(31);
    expect((await signIn(node, who)).status).toBe(200);
    letGo();
    expect((await slow).status).toBe(200);
    expect(await guesses(node, 6, () => who)).toEqual([401, 401, 401, 401, 401, 429]);
  });

  test("all unknown tenants share one set of budgets", async () => {
    const guessAt = (turn: number) => ({ username: "amina", tenantId: `nowhere-${turn}`, from: "192.0.2.70" });
    expect(await guesses(node, 5, guessAt)).not.toContain(429);
    expect((await guess(node, guessAt(99))).status).toBe(429);
    expect((await guess(node, { username: "amina", from: "192.0.2.70" })).status).toBe(401);
  });
});
