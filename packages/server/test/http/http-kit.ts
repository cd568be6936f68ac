import type { AddressInfo } from "node:net";
import { type Problem, routes, type Session, type TokenVerdict } from "@fieldgate/contract";
import type { FastifyInstance } from "fastify";
import { onTestFinished } from "vitest";
import { defaultPolicy } from "../../src/config/policy.ts";
import { Fault } from "../../src/fault.ts";
import { createHttpServer } from "../../src/http/create-http-server.ts";
import type { HttpSettings } from "../../src/http/http-settings.ts";
import { createMetrics } from "../../src/http/metrics.ts";
import { createLogger } from "../../src/http/request-log.ts";
import { registerRoute } from "../../src/http/route.ts";
import { registerHealthRoutes } from "../../src/routes/health.ts";
import { StoreUnavailable } from "../../src/store/store.ts";

export interface TestServer {
  readonly app: FastifyInstance;
  readonly port: number;
  readonly url: string;
  readonly settings: HttpSettings;
  /** Every line of the log so far. */
  readonly log: Record<string, unknown>[];
  /** How often a handler was reached. */
  readonly reached: () => number;
  /** `GET /api/users/me` answers only after this. */
  readonly letGo: () => void;
  /** Resolves when `GET /api/users/me` has begun. */
  readonly waiting: Promise<void>;
  readonly close: () => Promise<void>;
}

/** A server for one test; it ends with it. */
export async function startHttp(...options: Parameters<typeof openHttp>): Promise<TestServer> {
  const server = await openHttp(...options);
  onTestFinished(server.close);
  return server;
}

/** The HTTP layer on a loopback port, with small handlers behind real routes. */
export async function openHttp(
  overrides: Partial<HttpSettings> = {},
  register: (app: FastifyInstance) => void = () => undefined,
): Promise<TestServer> {
  const log: Record<string, unknown>[] = [];
  const settings: HttpSettings = {
    mode: "development",
    baseUrl: "http://127.0.0.1",
    tls: null,
    trustedProxies: [],
    corsOrigins: [],
    limits: defaultPolicy.http,
    logger: createLogger("debug", { write: (line) => void log.push(JSON.parse(line)) }),
    metrics: createMetrics(),
    dpopNonce: () => "test-nonce",
    isReady: () => true,
    ...overrides,
  };
  const app = createHttpServer(settings);
  const held = Promise.withResolvers<void>();
  const waiting = Promise.withResolvers<void>();
  let reached = 0;

  registerRoute(app, routes.login, ({ body }) => {
    reached++;
    return session(body.username);
  });
  registerRoute(app, routes.refresh, ({ body }) => {
    reached++;
    fail(body.refreshToken);
    return session("amina");
  });
  registerRoute(app, routes.logout, async () => {
    reached++;
    return undefined;
  });
  registerRoute(app, routes.checkToken, (context) => {
    reached++;
    if (context.bearer === null) throw new Fault("invalid_token");
    return verdict({ subject: context.clientAddress, username: context.host, scope: context.requestId });
  });
  registerRoute(app, routes.checkStoredToken, ({ bearer, body }) => {
    reached++;
    const token = bearer ?? body.token;
    if (token !== "good") throw new Fault("invalid_token");
    return verdict({});
  });
  registerRoute(app, routes.me, async () => {
    reached++;
    waiting.resolve();
    await held.promise;
    const user = { userId: "1", username: "amina", tenantId: "demo", roles: [], scope: "", provider: "password" };
    return { ...user, kind: "field-worker" as const };
  });
  registerRoute(app, routes.authConfig, ({ params, tenantHeader, deviceToken, dpop }) => {
    reached++;
    return { tenantId: "demo", name: `${params.tenantId}|${tenantHeader}|${deviceToken}|${dpop}`, adapters: [] };
  });
  registerRoute(app, routes.jwks, () => ({ keys: [] }), { cacheControl: "public, max-age=300" });
  registerHealthRoutes(app);
  register(app);

  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const scheme = settings.tls ? "https" : "http";
  return {
    app,
    port,
    url: `${scheme}://127.0.0.1:${port}`,
    settings,
    log,
    reached: () => reached,
    letGo: () => held.resolve(),
    waiting: waiting.promise,
    async close() {
      held.resolve();
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

function session(username: string): Session {
  const tokens = { token: "t", tokenType: "Bearer" as const, refreshToken: "r", deviceToken: "d" };
  return { username, userId: "1", tenantId: "demo", expiresIn: 600, refreshExpiresIn: 1, ...tokens };
}

function verdict(parts: Partial<TokenVerdict>): TokenVerdict {
  const fixed = { valid: true as const, provider: "password", tenantId: "demo", expiresIn: 1 };
  return { ...fixed, subject: "1", username: "amina", scope: "", ...parts };
}

/** The ways a flow can end badly, by the refresh token that was sent. */
function fail(how: string): void {
  if (how === "crash") throw new Error("relation users: password open-sesame");
  if (how === "store") throw new StoreUnavailable("connect ECONNREFUSED 10.0.0.5");
  if (how === "busy") throw new Fault("busy", { retryAfter: 0.2 });
  if (how === "locked") throw new Fault("too_many_attempts", { retryAfter: 29.4 });
  if (how === "ended") throw new Fault("session_revoked");
  if (how === "grant") throw new Fault("invalid_grant", { detail: "family 7 is dead" });
}

export interface JsonAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Problem & Record<string, unknown>;
}

export async function get(url: string, headers: Record<string, string> = {}): Promise<JsonAnswer> {
  return read(await fetch(url, { headers }));
}

/** Posts text as it is, as JSON unless another type is given; null sends none. */
export async function post(
  url: string,
  body: string | Uint8Array<ArrayBuffer> | undefined,
  headers: Record<string, string> = { "content-type": "application/json" },
): Promise<JsonAnswer> {
  // A Blob has no type of its own, so that fetch adds none.
  const blob = body === undefined ? null : new Blob([body]);
  return read(await fetch(url, { method: "POST", headers, body: blob }));
}

async function read(response: Response): Promise<JsonAnswer> {
  const text = await response.text();
  const { status, headers } = response;
  return { status, headers, text, body: text === "" ? null : JSON.parse(text) };
}

/** Waits until something holds; the test's own time limit ends a wait that is in vain. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
