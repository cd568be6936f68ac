/**
 * A node as a process of its own, to be killed. Its argument is `NodeProcessSettings` as JSON. It prints its address when
 * it answers, and lives no longer than its input.
 */
import { flushCompileCache } from "node:module";
import { pino } from "pino";
import { createApp } from "../../src/app.ts";
import { defaultPolicy } from "../../src/config/policy.ts";
import type { NodeProcessSettings } from "./node-process.ts";

const { database, dataDir, secret, publicUrl } = JSON.parse(process.argv[2] ?? "") as NodeProcessSettings;
const app = await createApp(
  {
    mode: "development",
    baseUrl: publicUrl,
    audience: publicUrl,
    listen: { host: "127.0.0.1", port: 0 },
    tls: null,
    metrics: null,
    secret: Buffer.from(secret, "base64url"),
    previousSecret: null,
    delivery: [],
    database,
    dataDir,
    defaultTenant: "demo",
    corsOrigins: [],
    trustedProxies: [],
    internalHosts: [],
    logLevel: "silent",
    policy: defaultPolicy,
  },
  { logger: pino({ level: "silent" }) },
);
const { url } = await app.listen();
// A process that is killed does not get to write it, and the next one starts the faster for it.
flushCompileCache();
process.stdout.write(`${url}\n`);
for await (const _ of process.stdin);
process.exit(0);
