import "fake-indexeddb/auto";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProver, generatePair } from "../renewal/dpop.ts";
import { createServerClock } from "../server-clock.ts";
import { FileKeyDatabase } from "./file.ts";
import { openKeyDatabase } from "./indexed-db.ts";
import { type KeyDatabase, putBounded } from "./key-database.ts";
import { createMemoryKeys } from "./memory.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "fieldgate-keys-"));
});
afterAll(() => rm(directory, { recursive: true }));

const databases: Record<string, (tenantId: string) => KeyDatabase> = {
  memory: createMemoryKeys,
  indexedDb: openKeyDatabase,
  file: (tenantId) => new FileKeyDatabase(tenantId, directory),
};

describe.each(Object.entries(databases))("keys in %s", (_, open) => {
  test("records are kept by kind and id, and removed", async () => {
    const keys = open("kinds");
    expect(await keys.get("device", "a")).toBeUndefined();
    expect(await keys.list("device")).toEqual([]);
    await keys.put("device", "a", { at: 1, token: "first" });
    await keys.put("device", "a", { at: 2, token: "second" });
    await keys.put("logout", "a", { refreshTokenHash: "hash", server: "https://a.example" });
    await keys.put("device", "\u0000ÿ/..", { at: 3, token: "odd" });
    expect(await keys.get("device", "a")).toEqual({ at: 2, token: "second" });
    expect(await keys.list("logout")).toEqual([["a", { refreshTokenHash: "hash", server: "https://a.example" }]]);
    expect((await keys.list("device")).map(([id]) => id).sort()).toEqual(["\u0000ÿ/..", "a"]);
    await keys.remove("device", "a");
    await keys.remove("device", "never there");
    expect(await keys.list("device")).toHaveLength(1);
    await keys.close();
  });

  test("a pair that was kept still signs", async () => {
    const keys = open("pairs");
    const pair = await generatePair(true);
    await keys.put("pair", "p", { at: 1, pair });
    const kept = await keys.get("pair", "p");
    if (!kept) throw new Error("The pair is gone.");
    const proof = await createProver(kept.pair, createServerClock(Date.now))("POST", "https://a.example/x", "n");
    const [head, body, signature] = proof.split(".") as [string, string, string];
    const bytes = (text: string) => Buffer.from(text, "base64url");
    const signed = new TextEncoder().encode(`${head}.${body}`);
    const algorithm = { name: "ECDSA", hash: "SHA-256" };
    expect(await crypto.subtle.verify(algorithm, pair.publicKey, bytes(signature), signed)).toBe(true);
    expect(JSON.parse(bytes(body).toString())).toMatchObject({ htm: "POST", htu: "https://a.example/x", nonce: "n" });
    const { jwk } = JSON.parse(bytes(head).toString());
    expect(Object.keys(jwk).sort()).toEqual(["crv", "kty", "x", "y"]);
    await keys.close();
  });

  test("a vault key that was kept still opens what it sealed", async () => {
    const keys = open("vaults");
    const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, keys.extractable, [
      "encrypt",
      "decrypt",
    ]);
    const cipher = { name: "AES-GCM", iv: new Uint8Array(12) };
    const sealed = await crypto.subtle.encrypt(cipher, key, new TextEncoder().encode("a form"));
    await keys.put("vault", "v", { at: 1, owner: "o", key });
    const kept = await keys.get("vault", "v");
    if (!kept) throw new Error("The key is gone.");
    expect(kept.owner).toBe("o");
    expect(new TextDecoder().decode(await crypto.subtle.decrypt(cipher, kept.key, sealed))).toBe("a form");
    await keys.close();
  });

  test("the oldest of too many are dropped, never the newest", async () => {
    const keys = open("many");
    for (let at = 40; at > 0; at--) await putBounded(keys, "device", `d${at}`, { at, token: "t" });
    const left = (await keys.list("device")).map(([id]) => id);
    expect(left.length).toBeLessThanOrEqual(33);
    expect(left).toContain("d40");
    // It was added last, on a device whose clock went backwards.
    expect(left).toContain("d1");
    await keys.close();
  });
});

test("files of keys are their owner's alone", async () => {
  const keys = new FileKeyDatabase("private", directory);
  await keys.put("pair", "p", { at: 1, pair: await generatePair(true) });
  const folder = join(directory, "private/keys");
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  const [name] = await readdir(folder);
  expect((await stat(join(folder, name as string))).mode & 0o777).toBe(0o600);
  expect(await readFile(join(folder, name as string), "utf8")).toContain('"kty":"EC"');
});
