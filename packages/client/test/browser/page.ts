import { OtpAuthAdapter } from "../../src/adapters/otp.ts";
import * as client from "../../src/index.ts";
import { IndexedDbAuthStorageAdapter } from "../../src/storage/indexed-db.ts";
import { MemoryAuthStorageAdapter } from "../../src/storage/memory.ts";
import { storageConformance } from "../../src/testing/index.ts";

/** What the tests reach from outside by `page.evaluate`. */
const parts = { ...client, OtpAuthAdapter, IndexedDbAuthStorageAdapter, MemoryAuthStorageAdapter, storageConformance };

declare global {
  var kit: typeof parts;
  var auth: client.AuthManager;
}

globalThis.kit = parts;
