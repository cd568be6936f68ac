import { hash } from "@node-rs/argon2";
import { expect, test } from "vitest";
import type { Fault } from "../fault.ts";
import { createPasswordHasher } from "./password-hash.ts";

const password = "walnut-harbour-seventeen";

test("matches the password and nothing else; nobody's password matches nothing", async () => {
  const hasher = createPasswordHasher({ parallel: 2, queue: 8 });
  const stored = await hasher.hash(password);
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await hasher.verify(stored, password)).toBe(true);
  expect(await hasher.verify(stored, `${password} `)).toBe(false);
  expect(await hasher.verify(null, password)).toBe(false);
});

test("a password is never cut short", async () => {
  const hasher = createPasswordHasher({ parallel: 2, queue: 8 });
  const long = "x".repeat(1023);
  const stored = await hasher.hash(`${long}a`);
  expect(await hasher.verify(stored, `${long}a`)).toBe(true);
  expect(await hasher.verify(stored, `${long}b`)).toBe(false);
});

test("knows which hashes are weaker than ours", async () => {
  const hasher = createPasswordHasher({ parallel: 1, queue: 1 });
  expect(hasher.needsUpgrade(await hash(password, { memoryCost: 8192, timeCost: 1, parallelism: 1 }))).toBe(true);
  expect(hasher.needsUpgrade(await hasher.hash(password))).toBe(false);
  const made = (parameters: string) => `$argon2${parameters}$c2FsdHNhbHQ$aGFzaA`;
  for (const weaker of [
    "id$v=19$m=12288,t=3,p=1",
    "id$v=19$m=19456,t=1,p=1",
    "i$v=19$m=65536,t=9,p=1",
    "id$v=16$m=65536,t=9,p=1",
  ]) {
    expect(hasher.needsUpgrade(made(weaker)), weaker).toBe(true);
  }
  for (const enough of ["id$v=19$m=47104,t=1,p=1", "id$v=19$m=19456,t=2,p=4", "id$v=19$m=65536,t=3,p=4"]) {
    expect(hasher.needsUpgrade(made(enough)), enough).toBe(false);
  }
  expect(hasher.needsUpgrade("$2b$10$abcdefghijklmnopqrstuv")).toBe(true);
});

test("beyond the queue it is busy, and everyone in it is served", async () => {
  const hasher = createPasswordHasher({ parallel: 1, queue: 3 });
  const asked = Array.from({ length: 8 }, () => hasher.hash(password));
  const results = await Promise.allSettled(asked);
  const refused = results.filter((result) => result.status === "rejected").map((result) => result.reason as Fault);
  expect(refused).toHaveLength(4);
  for (const fault of refused) expect(fault).toMatchObject({ code: "busy", retryAfter: 1 });
  await expect(hasher.hash(password)).resolves.toContain("$argon2id$");
});

test("a hash that nobody can read is an error of its own, and the thread goes on", async () => {
  const hasher = createPasswordHasher({ parallel: 1, queue: 8 });
  await expect(hasher.verify("no hash", password)).rejects.toThrow();
  expect(await hasher.verify(await hasher.hash(password), password)).toBe(true);
});
