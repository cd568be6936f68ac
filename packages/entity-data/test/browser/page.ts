import * as client from "@fieldgate/client";
import { IndexedDbAuthStorageAdapter } from "@fieldgate/client/storage/indexed-db";
import * as entityData from "../../src/index.ts";
import { IndexedDbEntityStore, IndexedDbEventStore } from "../../src/stores/indexed-db.ts";
import { entityStoreConformance, eventStoreConformance } from "../../src/testing/index.ts";

/** What the tests reach from outside by `page.evaluate`. */
const parts = {
  ...client,
  ...entityData,
  IndexedDbAuthStorageAdapter,
  IndexedDbEntityStore,
  IndexedDbEventStore,
  entityStoreConformance,
  eventStoreConformance,
};

declare global {
  var kit: typeof parts;
  var auth: client.AuthManager;
  var manager: entityData.EntityDataManager;
}

globalThis.kit = parts;
