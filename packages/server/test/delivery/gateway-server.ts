import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A real HTTP gateway on a loopback port, which can be told to misbehave. */
export interface GatewayServer {
  readonly url: string;
  readonly asked: Asked[];
  /** How many requests wait for their answer. */
  waiting: number;
  /** Answers a request, or never does. */
  answer: (response: ServerResponse, asked: Asked) => void;
  stop(): Promise<void>;
}

export const answerJson = (status: number, body: unknown, headers: Record<string, string> = {}) => {
  return (response: ServerResponse) =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
};

export async function startGateway(): Promise<GatewayServer> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method = "", url = "", headers } = request;
      const asked = { method, url, headers, body };
      gateway.asked.push(asked);
      gateway.waiting += 1;
      response.on("close", () => {
        gateway.waiting -= 1;
      });
      gateway.answer(response, asked);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const gateway: GatewayServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    waiting: 0,
    answer: answerJson(200, { id: "m-1", status: "ok" }),
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return gateway;
}
