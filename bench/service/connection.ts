import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface RawAnswer {
  readonly status: number;
  /** Everything before the body, as it came. */
  readonly head: string;
  readonly body: string;
}

const endOfHead = "\r\n\r\n";

/**
 * A keep-alive connection that does as little as HTTP allows, so that the load takes little of the machine it shares
 * with the server. Answers must have a Content-Length; one request at a time.
 */
export class Connection {
  readonly #socket: Socket;
  #received = "";
  #waiting: { resolve(answer: RawAnswer): void; reject(error: Error): void } | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    // One character a byte, so that Content-Length counts characters; our answers are ASCII.
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => this.#read(chunk));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("The server closed the connection.")));
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new Connection(socket);
  }

  send(request: string): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Error("The connection is closed."));
      this.#waiting = { resolve, reject };
      this.#socket.write(request, "latin1");
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: string): void {
    this.#received += chunk;
    const headEnd = this.#received.indexOf(endOfHead);
    if (headEnd === -1) return;
    const head = this.#received.slice(0, headEnd);
    const end = headEnd + endOfHead.length + Number(headerOf(head, "content-length") ?? 0);
    if (this.#received.length < end) return;
    const body = this.#received.slice(headEnd + endOfHead.length, end);
    this.#received = this.#received.slice(end);
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve({ status: Number(head.slice(9, 12)), head, body });
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}

export function headerOf(head: string, name: string): string | undefined {
  const start = head.toLowerCase().indexOf(`\r\n${name}:`);
  if (start === -1) return undefined;
  const from = start + name.length + 3;
  const end = head.indexOf("\r\n", from);
  return head.slice(from, end === -1 ? undefined : end).trim();
}

/** A request in the bytes of HTTP/1.1. */
export function requestText(
  method: "GET" | "POST",
  path: string,
  headers: Readonly<Record<string, string>>,
  body = "",
): string {
  const lines = Object.entries({ Host: "127.0.0.1", ...headers }).map(([name, value]) => `${name}: ${value}`);
  if (body !== "") lines.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}${endOfHead}${body}`;
}
