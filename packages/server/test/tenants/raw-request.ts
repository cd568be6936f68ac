import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Record<string, unknown> | null;
}

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** Also those that `fetch` would not send, `Host` among them. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  /** Milliseconds until silence is a failure. */
  readonly patience?: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** A request as it is written, with nothing added but its length. */
export function sendRaw(
  url: string,
  { method, path, headers = {}, body, patience = 10_000 }: RawRequest,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const request = httpRequest(
      { agent, hostname, port, method, path, headers: { ...length, ...(headers as Record<string, string>) } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = /json/.test(response.headers["content-type"] ?? "");
          const body = isJson && text !== "" ? (JSON.parse(text) as Record<string, unknown>) : null;
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body });
        });
      },
    );
    request.setTimeout(patience, () => request.destroy(new Error(`${method} ${path}: no answer in ${patience} ms`)));
    request.on("error", reject);
    request.end(body);
  });
}
