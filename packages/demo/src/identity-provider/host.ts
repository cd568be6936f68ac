import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** A web server on loopback that can be made to fail as real ones do. */
export interface Host {
  /** The origin, without a slash at its end. */
  readonly url: string;
  /** What was asked for, oldest first: `GET /jwks`. */
  readonly requests: readonly string[];
  /** Refuses connections, and drops those that are open. */
  goDown(): Promise<void>;
  comeUp(): Promise<void>;
  /** Each answer waits this long; 0 for none. */
  beSlow(milliseconds: number): void;
  close(): Promise<void>;
}

export async function startHost(port: number, handle: Handler): Promise<Host> {
  const requests: string[] = [];
  let delay = 0;

  const server = createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url?.split("?")[0]}`);
    try {
      if (delay > 0) await sleep(delay);
      await handle(request, response);
    } catch (error) {
      // The message is for whoever works with the demo; there is nothing to protect here.
      if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain" });
      response.end(String(error));
    }
  });

  async function listen(at: number): Promise<void> {
    server.listen(at, "127.0.0.1");
    await once(server, "listening");
  }

  async function goDown(): Promise<void> {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  await listen(port);
  const taken = (server.address() as AddressInfo).port;
  return {
    url: `http://localhost:${taken}`,
    requests,
    goDown,
    comeUp: async () => {
      if (!server.listening) await listen(taken);
    },
    beSlow: (milliseconds) => {
      delay = milliseconds;
    },
    close: goDown,
  };
}
