import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { Config } from "../../../server/src/config/config.ts";
import { defaultPolicy } from "../../../server/src/config/policy.ts";
import type { Channel } from "../../../server/src/delivery/channel.ts";
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
  manager(options?: ManagerOptions): TestManager;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface TestManager {
  readonly auth: AuthManager;
  readonly network: FaultyNetwork;
  readonly storage: AuthStorageAdapter;
  readonly device: Device;
}

interface ManagerOptions extends AuthManagerOptions {
  readonly storage?: AuthStorageAdapter;
  readonly network?: FaultyNetwork;
  readonly device?: Device;
}

/** A device whose clock a test can set. To the client, a clock that jumps looks like time that passes. */
export class Device {
  offset = 0;
  readonly now = () => Date.now() + this.offset;

  /** Lets an access token come to its end. */
  letTokenEnd(): void {
    this.offset += 601_000;
  }
}

/** A real service with one tenant and one worker, whose access tokens live for so many seconds. */
export function useService({
  workerAccess = 600,
  config = {} as Partial<Config>,
  channels = undefined as readonly Channel[] | undefined,
} = {}): Service {
  let node: TestNode;
  let folder: string;
  const start = (more: Partial<Config>) =>
    startNode({
      database: { kind: "sqlite", file: join(folder, "fieldgate.db") },
      policy,
      config: { ...config, ...more },
      ...(channels && { channels }),
    });
  let running = false;
  let url: string;
  const opened: AuthManager[] = [];
  const policy = { tokens: { ...defaultPolicy.tokens, workerAccess } };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fieldgate-client-"));
    node = await start({});
    url = node.url;
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
      return url;
    },
    get node() {
      return node;
    },
    manager(options = {}) {
      const { storage = new MemoryAuthStorageAdapter("demo"), network = new FaultyNetwork() } = options;
      const { device = new Device() } = options;
      const { now } = device;
      const auth = new AuthManager([], url, storage, { fetch: network.fetch, now, checkInterval: 0, ...options });
      opened.push(auth);
      return { auth, network, storage, device };
    },
    async stop() {
      await node.close();
      running = false;
    },
    async restart() {
      const { port } = new URL(url);
      node = await start({
        baseUrl: url,
        audience: url,
        listen: { host: "127.0.0.1", port: Number(port) },
      });
      running = true;
    },
  };
}

export const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
