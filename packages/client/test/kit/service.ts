import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { Config } from "../../../server/src/config/config.ts";
import { defaultPolicy } from "../../../server/src/config/policy.ts";
import { goodPassword, startNode, type TestNode } from "../../../server/test/kit/node.ts";
import { AuthManager } from "../../src/auth-manager.ts";
import type { AuthManagerOptions } from "../../src/options.ts";
import { MemoryAuthStorageAdapter } from "../../src/storage/memory.ts";
import type { AuthStorageAdapter } from "../../src/storage/storage.ts";
import { FaultyNetwork } from "./faulty-network.ts";

export const amina = { username: "amina", password: goodPassword };

export interface Service {
  readonly url: string;
  readonly node: TestNode;
  /** A manager whose checks run only when it is used. It is closed after the tests. */
  manager(options?: ManagerOptions): { auth: AuthManager; network: FaultyNetwork; storage: AuthStorageAdapter };
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface ManagerOptions extends AuthManagerOptions {
  readonly storage?: AuthStorageAdapter;
  readonly network?: FaultyNetwork;
}

/** A real service with one tenant and one worker, whose access tokens live for so many seconds. */
export function useService({ workerAccess = 600, corsOrigins = [] as string[] } = {}): Service {
  let node: TestNode;
  let folder: string;
  const start = (config: Partial<Config>) =>
    startNode({ database: { kind: "sqlite", file: join(folder, "fieldgate.db") }, policy, config });
  let running = false;
  const opened: AuthManager[] = [];
  const policy = { tokens: { ...defaultPolicy.tokens, workerAccess } };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fieldgate-client-"));
    node = await start({ corsOrigins });
    running = true;
    await node.addTenant("demo");
    await node.addWorker(amina);
  });
  afterAll(async () => {
    for (const auth of opened) await auth.close();
    if (running) await node.close();
    await rm(folder, { recursive: true });
  });

  return {
    get url() {
      return node.url;
    },
    get node() {
      return node;
    },
    manager({ storage = new MemoryAuthStorageAdapter("demo"), network = new FaultyNetwork(), ...options } = {}) {
      const auth = new AuthManager([], node.url, storage, { fetch: network.fetch, checkInterval: 0, ...options });
      opened.push(auth);
      return { auth, network, storage };
    },
    async stop() {
      await node.close();
      running = false;
    },
    async restart() {
      const { port } = new URL(node.url);
      const { baseUrl, audience } = node.config;
      node = await start({ corsOrigins, baseUrl, audience, listen: { host: "127.0.0.1", port: Number(port) } });
      running = true;
    },
  };
}

export const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
