import { createServer, type IncomingMessage, request as send } from "node:http";
import type { AddressInfo } from "node:net";

/** A network between real browsers and a real server that loses what a test wants it to lose. */
export interface LossyProxy {
  readonly url: string;
  /** Where to forward to. */
  target: string;
  /** The chance that a request, or an answer to one that was carried out, is lost. */
  loss: { request: number; answer: number };
  /** What came by. */
  readonly seen: { readonly path: string; readonly status: number }[];
  close(): Promise<void>;
}

export async function startLossyProxy(): Promise<LossyProxy> {
  const seen: { path: string; status: number }[] = [];
  const loss = { request: 0, answer: 0 };
  const server = createServer((incoming, outgoing) => {
    // A browser's question whether it may ask is not what is to be lost.
    const mayLose = incoming.method !== "OPTIONS";
    if (mayLose && Math.random() < loss.request) return incoming.socket.destroy();
    const { hostname, port } = new URL(proxy.target);
    const headers = { ...incoming.headers, host: new URL(proxy.url).host };
    const forward = send(
      { hostname, port, path: incoming.url, method: incoming.method, headers },
      (answer: IncomingMessage) => {
        if (mayLose) seen.push({ path: incoming.url ?? "", status: answer.statusCode ?? 0 });
        if (mayLose && Math.random() < loss.answer) {
          answer.resume();
          return incoming.socket.destroy();
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forward.on("error", () => incoming.socket.destroy());
    incoming.pipe(forward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: LossyProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: "",
    loss,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return proxy;
}
