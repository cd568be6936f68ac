import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { chromium } from "playwright-core";
import { build } from "vite";
import { createApp } from "../../packages/server/src/app.ts";
import type { Config } from "../../packages/server/src/config/config.ts";
import { defaultPolicy } from "../../packages/server/src/config/policy.ts";
import { addTenant } from "../../packages/server/src/people/tenants.ts";
import { addWorker } from "../../packages/server/src/people/workers.ts";

const credentials = { username: "amina", password: randomBytes(18).toString("base64") };

/** Milliseconds of `getToken()` with a fresh verdict, in Chromium, signed in to a real service. */
export async function measureGetToken(): Promise<{ p50: number; p99: number } | null> {
  const folder = await mkdtemp(join(tmpdir(), "fieldgate-bench-"));
  const page = await servePage();
  const app = await startService(folder, page.url);
  const browser = await chromium
    .launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] })
    .catch(() => null);
  try {
    if (!browser) return null;
    const tab = await browser.newPage();
    await tab.goto(page.url);
    // As text: this program is checked without the types of a browser.
    const script = `(async (server, credentials) => {
      await import("/client.js");
      const { AuthManager, IndexedDbAuthStorageAdapter } = globalThis.fieldgate;
      const auth = new AuthManager([], server, new IndexedDbAuthStorageAdapter("demo"));
      await auth.login(credentials);
      const times = [];
      for (let round = 0; round < 20000; round++) {
        const began = performance.now();
        await auth.getToken();
        times.push(performance.now() - began);
      }
      times.sort((a, b) => a - b);
      return { p50: times[10000], p99: times[19800] };
    })(${JSON.stringify(app.url)}, ${JSON.stringify(credentials)})`;
    return await tab.evaluate<{ p50: number; p99: number }>(script);
  } finally {
    await browser?.close();
    await app.close();
    page.close();
    await rm(folder, { recursive: true });
  }
}

async function servePage() {
  const outputs = await build({
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      target: "esnext",
      lib: { entry: join(import.meta.dirname, "pages/everything.ts"), formats: ["es"], fileName: "client" },
    },
  });
  const files = (Array.isArray(outputs) ? outputs : [outputs]).flatMap((each) => ("output" in each ? each.output : []));
  const scripts = new Map(
    files.filter((file) => file.type === "chunk").map((file) => [`/${file.fileName}`, file.code]),
  );
  const server = createServer(({ url = "/" }, response) => {
    const script = scripts.get(url);
    response.writeHead(200, { "content-type": script === undefined ? "text/html" : "text/javascript" });
    response.end(script ?? "<!doctype html><title>bench</title>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close().closeAllConnections() };
}

async function startService(folder: string, page: string) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config: Config = {
    mode: "development",
    baseUrl: url,
    audience: url,
    listen: { host: "127.0.0.1", port },
    tls: null,
    metrics: null,
    secret: randomBytes(32),
    previousSecret: null,
    delivery: [],
    database: { kind: "sqlite", file: join(folder, "fieldgate.db") },
    dataDir: folder,
    defaultTenant: "demo",
    corsOrigins: [page],
    trustedProxies: [],
    internalHosts: [],
    logLevel: "silent",
    policy: defaultPolicy,
  };
  const app = await createApp(config, { logger: pino({ level: "silent" }) });
  await app.listen();
  const { store, hasher } = app.services;
  const passwordHash = await hasher.hash(credentials.password);
  await store.transaction(async (tx) => {
    await addTenant(tx, { id: "demo", name: "Demo", settings: {} }, { loopbackHttp: true });
    await addWorker(tx, { tenantId: "demo", username: credentials.username, passwordHash, roles: ["field-worker"] });
  });
  return { url, close: () => app.close() };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
