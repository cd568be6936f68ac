import { AuthManager } from "@fieldgate/client";
import { IndexedDbAuthStorageAdapter } from "@fieldgate/client/storage/indexed-db";

const server = "https://auth.example.org";
const ways = [{ type: "otp", fields: { serverUrl: server } }];
Object.assign(globalThis, { auth: new AuthManager(ways, server, new IndexedDbAuthStorageAdapter("demo")) });
