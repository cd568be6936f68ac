import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A connection on which a test says exactly what it wants. */
export class RawClient {
  readonly socket: Socket;
  #received = "";
  readonly #ended: Promise<unknown>;

  constructor(port: number) {
    this.socket = connect(port, "127.0.0.1");
    this.socket.setNoDelay(true);
    this.socket.on("data", (chunk) => {
      this.#received += chunk.toString("latin1");
    });
    // A reset is one way for a server to hang up; what it said before is what counts.
    this.socket.on("error", () => undefined);
    this.#ended = new Promise((resolve) => this.socket.once("close", resolve));
    onTestFinished(() => void this.socket.destroy());
  }

  send(text: string | Uint8Array): void {
    this.socket.write(text);
  }

  /** Everything the server said until it hung up. */
  async untilClosed(): Promise<RawAnswer[]> {
    await this.#ended;
    return parseAnswers(this.#received);
  }

  async answers(count: number): Promise<RawAnswer[]> {
    for (;;) {
      const answers = parseAnswers(this.#received);
      if (answers.length >= count) return answers;
      if (this.socket.destroyed) throw new Error(`The server hung up after: ${this.#received}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  get received(): string {
    return this.#received;
  }
}

/** One exchange on a new connection. The text is sent as it is. */
export async function rawExchange(port: number, text: string | Uint8Array): Promise<RawAnswer> {
  const client = new RawClient(port);
  client.send(text);
  const [answer] = await client.answers(1);
  return answer as RawAnswer;
}

function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf("\r\n\r\n");
    if (end === -1) return answers;
    const [statusLine = "", ...lines] = rest.slice(0, end).split("\r\n");
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
      }),
    );
    const length = Number(headers.get("content-length") ?? 0);
    const body = rest.slice(end + 4, end + 4 + length);
    if (body.length < length) return answers;
    const status = Number(statusLine.split(" ")[1]);
    if (status !== 100) answers.push({ status, headers, body });
    rest = rest.slice(end + 4 + length);
  }
}
