import { randomBytes } from "node:crypto";
import type { Config, DatabaseConfig } from "../../packages/server/src/config/config.ts";
import { defaultPolicy } from "../../packages/server/src/config/policy.ts";

export const tenantId = "bench";
export const password = "walnut-harbour-seventeen";

export interface NodeSetup {
  readonly port: number;
  readonly database: DatabaseConfig;
  readonly dataDir: string;
  readonly secret: Uint8Array;
}

export const newSecret = (): Uint8Array => randomBytes(32);

/** A node as an operator would run it on one machine: the default numbers, nothing switched off. */
export function serviceConfig({ port, database, dataDir, secret }: NodeSetup): Config {
  const baseUrl = `http://127.0.0.1:${port}`;
  return {
    mode: "development",
    baseUrl,
    audience: baseUrl,
    listen: { host: "127.0.0.1", port },
    tls: null,
    metrics: null,
    secret,
    previousSecret: null,
    database,
    dataDir,
    delivery: [],
    defaultTenant: tenantId,
    corsOrigins: ["https://portal.example.org"],
    trustedProxies: [],
    internalHosts: [],
    logLevel: "warn",
    policy: defaultPolicy,
  };
}
