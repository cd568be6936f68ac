import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Config } from "../config/config.ts";
import { Fault } from "../fault.ts";
import { readBearer } from "./bearer.ts";
import type { Metrics } from "./metrics.ts";

export interface MetricsListener {
  readonly url: string;
  close(): Promise<void>;
}

const loopback = new Set(["127.0.0.1", "::1", "localhost"]);

/**
 * Metrics have a door of their own, so that nobody who reaches the service reaches them by accident. Behind a local
 * proxy everyone is loopback: there, or on any other address, give it a token.
 */
export async function listenForMetrics(
  metrics: Metrics,
  settings: NonNullable<Config["metrics"]>,
): Promise<MetricsListener> {
  if (settings.token === null && !loopback.has(settings.host)) {
    throw new Error(
      `metrics.token: metrics on ${settings.host} can be reached by others. Set a token, or listen on 127.0.0.1.`,
    );
  }
  const tokenHash = settings.token === null ? null : hash(settings.token);
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 5_000 }, (request, response) => {
    void answer(metrics, tokenHash, request, response);
  });
  await listen(server, settings.host, settings.port);
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : settings.port;
  const host = settings.host.includes(":") ? `[${settings.host}]` : settings.host;
  return { url: `http://${host}:${port}/metrics`, close: () => close(server) };
}

async function answer(
  metrics: Metrics,
  tokenHash: Buffer | null,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.setHeader("cache-control", "no-store");
  response.setHeader("x-content-type-options", "nosniff");
  if (request.url !== "/metrics") return end(response, 404, "Metrics are at /metrics.\n");
  if (request.method !== "GET") return end(response.setHeader("allow", "GET"), 405, "Metrics can only be read.\n");
  if (tokenHash !== null && !mayRead(request, tokenHash)) {
    return end(response.setHeader("www-authenticate", "Bearer"), 401, "Send the metrics token as Bearer.\n");
  }
  try {
    const text = await metrics.registry.metrics();
    response.setHeader("content-type", metrics.registry.contentType);
    end(response, 200, text);
  } catch {
    // Only a gauge that cannot be read comes here: the scraper shall see a failed scrape, not half of one.
    end(response, 500, "A metric could not be read.\n");
  }
}

/** Hashes have equal lengths, so the comparison tells nothing of the token, not even how long it is. */
function mayRead(request: IncomingMessage, tokenHash: Buffer): boolean {
  try {
    const token = readBearer(request.headers.authorization);
    return token !== null && timingSafeEqual(hash(token), tokenHash);
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

function hash(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function end(response: ServerResponse, status: number, text: string): void {
  if (!response.hasHeader("content-type")) response.setHeader("content-type", "text/plain; charset=utf-8");
  response.writeHead(status).end(text);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
