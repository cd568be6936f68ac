import "fake-indexeddb/auto";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { storageConformance } from "../testing/index.ts";
import { FileAuthStorageAdapter } from "./file.ts";
import { IndexedDbAuthStorageAdapter } from "./indexed-db.ts";
import { MemoryAuthStorageAdapter } from "./memory.ts";
import type { StoredSession } from "./storage.ts";

const session: StoredSession = {
  version: 1,
  provider: "otp",
  username: "amina",
  token: "secret-token",
  refreshToken: "secret-refresh",
};
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "fieldgate-client-"));
});
afterAll(() => rm(directory, { recursive: true }));

const subjects = {
  memory: { create: (tenantId: string) => new MemoryAuthStorageAdapter(tenantId), shared: false },
  indexedDb: { create: (tenantId: string) => new IndexedDbAuthStorageAdapter(tenantId) },
  file: { create: (tenantId: string) => new FileAuthStorageAdapter(tenantId, directory) },
};

for (const [name, subject] of Object.entries(subjects)) {
  describe(`${name} storage`, () => {
    // A case with a reason to skip does not apply: it is left out rather than counted.
    for (const { name, run } of storageConformance(subject).filter((each) => !each.skip)) test(name, run);
  });
}

describe("file storage", () => {
  test("writes nothing in the clear, and nothing others can read", async () => {
    const storage = new FileAuthStorageAdapter("closed", directory);
    await storage.initialize();
    await storage.put("otp", session);
    const folder = join(directory, "closed", "sessions");
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const names = await readdir(folder);
    expect(names.length).toBe(3);
    for (const name of names) {
      expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
      const content = await readFile(join(folder, name), "latin1");
      expect(content).not.toContain("secret");
      expect(content).not.toContain("amina");
    }
  });

  test("leaves only its key behind after remove", async () => {
    const storage = new FileAuthStorageAdapter("emptied", directory);
    await storage.put("otp", session);
    await storage.replace("otp", 1, { ...session, version: 2 });
    await storage.put("id", session);
    await storage.remove();
    expect(await readdir(join(directory, "emptied", "sessions"))).toEqual(["key"]);
  });

  test("gives null for a session it cannot open, and says that it was not a logout", async () => {
    const storage = new FileAuthStorageAdapter("damaged", directory);
    await storage.put("otp", session);
    await rm(join(directory, "damaged", "sessions", "key"));
    const again = new FileAuthStorageAdapter("damaged", directory);
    expect(await again.get("otp")).toBeNull();
    expect(again.evicted).toBe(true);
  });

  test("refuses a tenant id that would leave its directory", () => {
    expect(() => new FileAuthStorageAdapter("../other", directory)).toThrow(/tenantId: "..\/other"/);
  });
});

describe("IndexedDB storage", () => {
  const rawRecords = (name: string) =>
    new Promise<unknown[]>((resolve, reject) => {
      const opening = indexedDB.open(name);
      opening.onerror = () => reject(opening.error);
      opening.onsuccess = () => {
        const all = opening.result.transaction("sessions").objectStore("sessions").getAll();
        all.onsuccess = () => {
          opening.result.close();
          resolve(all.result);
        };
      };
    });

  test("seals a session in its own place", async () => {
    const storage = new IndexedDbAuthStorageAdapter("sealed");
    await storage.put("otp", session);
    const [record] = await rawRecords("fieldgate:sealed");
    expect(Object.keys(record as object).sort()).toEqual(["data", "iv", "version"]);
    expect(Buffer.from((record as { data: ArrayBuffer }).data).toString("latin1")).not.toContain("secret");
  });

  test("survives an upgrade by a newer version of the app, before and after", async () => {
    const storage = new IndexedDbAuthStorageAdapter("upgraded");
    await storage.put("otp", session);
    await new Promise<void>((resolve, reject) => {
      const newer = indexedDB.open("fieldgate:upgraded", 7);
      newer.onupgradeneeded = () => newer.result.createObjectStore("more");
      newer.onerror = () => reject(newer.error);
      newer.onsuccess = () => {
        newer.result.close();
        resolve();
      };
    });
    expect(await storage.get("otp")).toEqual(session);
    const later = new IndexedDbAuthStorageAdapter("upgraded");
    expect(await later.replace("otp", 1, { ...session, version: 2 })).toBe(true);
    expect((await storage.get("otp"))?.version).toBe(2);
  });

  test("keeps sessions in memory, and says why, where there is no database", async () => {
    const factory = indexedDB.open;
    indexedDB.open = () => {
      throw new DOMException("A mutation operation was attempted on a database that did not allow mutations.");
    };
    try {
      const storage = new IndexedDbAuthStorageAdapter("private");
      await storage.initialize();
      expect(storage.warning).toMatch(/end with this page.*did not allow mutations/);
      await storage.put("otp", session);
      expect(await storage.replace("otp", 1, { ...session, version: 2 })).toBe(true);
      expect(await storage.get("otp")).toEqual({ ...session, version: 2 });
      await storage.remove();
      expect(await storage.providers()).toEqual([]);
    } finally {
      indexedDB.open = factory;
    }
  });
});
