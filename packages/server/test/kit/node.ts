import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { type App, createApp } from "../../src/app.ts";
import type { Clock } from "../../src/clock.ts";
import type { Config, DatabaseConfig } from "../../src/config/config.ts";
import { defaultPolicy, type Policy } from "../../src/config/policy.ts";
import type { Channel } from "../../src/delivery/channel.ts";
import { addBeneficiary } from "../../src/people/beneficiaries.ts";
import type { BeneficiaryFacts } from "../../src/people/beneficiary.ts";
import { addTenant } from "../../src/people/tenants.ts";
import { addWorker, type Worker } from "../../src/people/workers.ts";
import { ApiClient } from "./api-client.ts";

/** One secret for all nodes of a test: they share a database. */
export const testSecret = randomBytes(32);

export interface NodeOptions {
  readonly database: DatabaseConfig;
  readonly clock?: Clock;
  readonly config?: Partial<Config>;
  readonly policy?: Partial<Policy>;
  readonly channels?: readonly Channel[];
}

/** A real node of the service on a loopback port. */
export interface TestNode {
  readonly url: string;
  readonly app: App;
  readonly config: Config;
  readonly api: ApiClient;
  addTenant(id: string, settings?: unknown): Promise<void>;
  addWorker(worker: { tenantId?: string; username: string; password?: string; roles?: string[] }): Promise<Worker>;
  addPerson(facts: Partial<BeneficiaryFacts>, tenantId?: string): Promise<string>;
  close(): Promise<void>;
}

/** Long enough for the rules, the same for everyone who does not care. */
export const goodPassword = "walnut-harbour-seventeen";

export async function startNode(options: NodeOptions): Promise<TestNode> {
  const port = await freePort();
  const dataDir = await mkdtemp(join(tmpdir(), "fieldgate-node-"));
  const baseUrl = `http://127.0.0.1:${port}`;
  const config: Config = {
    mode: "development",
    baseUrl,
    audience: baseUrl,
    listen: { host: "127.0.0.1", port },
    tls: null,
    metrics: null,
    secret: testSecret,
    previousSecret: null,
    database: options.database,
    dataDir,
    delivery: [],
    defaultTenant: "demo",
    corsOrigins: [],
    trustedProxies: [],
    internalHosts: [],
    logLevel: "silent",
    ...options.config,
    policy: { ...defaultPolicy, ...options.policy },
  };
  const app = await createApp(config, {
    ...(options.clock && { clock: options.clock }),
    logger: pino({ level: config.logLevel }),
    ...(options.channels && { channels: options.channels }),
    checkAnswers: true,
  });
  await app.listen();
  const { store, hasher } = app.services;

  return {
    url: baseUrl,
    app,
    config,
    api: new ApiClient(baseUrl, config.baseUrl),
    async addTenant(id, settings) {
      await store.transaction(async (tx) => {
        await addTenant(tx, { id, name: `Programme ${id}`, settings: settings ?? {} }, { loopbackHttp: true });
      });
    },
    async addWorker({ tenantId = "demo", username, password = goodPassword, roles = ["field-worker"] }) {
      const passwordHash = await hasher.hash(password);
      return store.transaction((tx) => addWorker(tx, { tenantId, username, passwordHash, roles }));
    },
    async addPerson(facts, tenantId = "demo") {
      const cipher = await app.services.dataKeys.cipher(tenantId);
      const nobody = { externalId: null, names: { given: "Nobody" }, birth: null, language: null };
      const person = { ...nobody, phones: [], emails: [], nationalIds: [], ...facts };
      return store.transaction((tx) => addBeneficiary(tx, { cipher, defaultCountry: "KE" }, person));
    },
    async close() {
      await app.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("The system gave no port.");
  return address.port;
}
