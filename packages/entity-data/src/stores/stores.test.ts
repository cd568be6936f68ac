import "fake-indexeddb/auto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ConformanceCase, entityStoreConformance, eventStoreConformance } from "../testing/index.ts";
import { IndexedDbEntityStore, IndexedDbEventStore } from "./indexed-db.ts";
import { MemoryEntityStore, MemoryEventStore } from "./memory.ts";
import { SqliteEntityStore, SqliteEventStore } from "./sqlite.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "fieldgate-stores-"));
});
afterAll(() => rm(directory, { recursive: true }));

const suites: Record<string, ConformanceCase[]> = {
  "events in memory": eventStoreConformance({ create: () => new MemoryEventStore(), shared: false }),
  "entities in memory": entityStoreConformance({ create: () => new MemoryEntityStore(), shared: false }),
  "events in SQLite": eventStoreConformance({ create: (tenantId) => new SqliteEventStore(tenantId, directory) }),
  "entities in SQLite": entityStoreConformance({ create: (tenantId) => new SqliteEntityStore(tenantId, directory) }),
  "events in IndexedDB": eventStoreConformance({ create: (tenantId) => new IndexedDbEventStore(tenantId) }),
  "entities in IndexedDB": entityStoreConformance({ create: (tenantId) => new IndexedDbEntityStore(tenantId) }),
};

describe.each(Object.entries(suites))("%s", (_, cases) => {
  for (const { name, run, skip } of cases) test.skipIf(skip !== undefined)(name, run);
});

test.each(["", "../etc", "Kenya"])("no file of SQLite has the tenant id %j", (tenantId) => {
  expect(() => new SqliteEventStore(tenantId, directory)).toThrow(/tenantId/);
});

test("no database of IndexedDB is without a tenant", () => {
  expect(() => new IndexedDbEventStore("")).toThrow(/tenantId/);
  expect(() => new IndexedDbEntityStore("")).toThrow(/tenantId/);
});
