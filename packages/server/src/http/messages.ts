import { IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ErrorCode } from "@fieldgate/contract";
import type { Fault } from "../fault.ts";
import type { Cors } from "./cors.ts";
import type { Forwarding } from "./forwarding.ts";
import { requestIdOf } from "./request-id.ts";
import type { RequestMeter } from "./request-meter.ts";
import { defaultHeaders } from "./security-headers.ts";
import type { SingleHeaders } from "./single-headers.ts";

/** What the two message classes of one server share. */
export interface Gate {
  readonly forwarding: Forwarding;
  readonly cors: Cors;
  readonly fixedHeaders: readonly string[];
  readonly dpopNonce: () => string;
  /** `leaving`: `/readyz` says 503 while all else goes on. `closing`: answers end their connections too. */
  phase: "open" | "leaving" | "closing";
  inFlight: number;
  /** Answers that need neither a router nor a parser, by the target of their GET. */
  readonly express: Map<string, ExpressHandler>;
  /** Counts what no route has claimed. */
  readonly unmatched: RequestMeter;
  /** Called once per request, when the last byte is out or the client has gone. */
  onDone(response: GateResponse): void;
  /** Called when something that never became a request was answered. */
  onMalformed(code: ErrorCode): void;
}

export type ExpressHandler = (request: GateRequest, response: GateResponse) => void;

export interface GateRequest extends IncomingMessage {
  readonly gate: Gate;
  readonly requestId: string;
  /** Filled in by the guard. */
  readonly single: SingleHeaders;
}

export interface GateResponse extends ServerResponse<GateRequest> {
  readonly startedAt: number;
  meter: RequestMeter;
  /** Why the answer is no success, for the log. */
  fault: Fault | null;
  /** Answers 200 with JSON. The headers are complete but for those that differ from request to request. */
  sendJson(headers: readonly string[], text: string): void;
}

const latest = Symbol("latest response");
type GateSocket = Socket & { [latest]?: GateResponse | undefined };

/** The answer to the newest request of a connection. */
export function latestResponse(socket: Duplex): GateResponse | undefined {
  return (socket as GateSocket)[latest];
}

type Head = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * The headers of every answer are put in where all answers pass: here, and not in a hook that one of them might
 * miss. It is also the cheapest place, because Node writes a flat list of headers as it is.
 */
export function createMessageClasses(gate: Gate) {
  class Request extends IncomingMessage implements GateRequest {
    readonly single: SingleHeaders = {};
    #requestId: string | null = null;

    get gate(): Gate {
      return gate;
    }

    get requestId(): string {
      this.#requestId ??= requestIdOf(this, gate.forwarding);
      return this.#requestId;
    }
  }

  class Response extends ServerResponse<GateRequest> implements GateResponse {
    readonly startedAt = performance.now();
    meter = gate.unmatched;
    fault: Fault | null = null;

    constructor(request: GateRequest, options?: object) {
      // Node hands its own options along; its types know only the request.
      super(...([request, options] as unknown as [GateRequest]));
      gate.inFlight++;
      (this.req.socket as GateSocket)[latest] = this;
      this.on("close", done);
    }

    override writeHead(status: number, reason?: string | Head, head?: Head): this {
      const headers = withDefaults(gate.fixedHeaders, (typeof reason === "string" ? head : reason) ?? {});
      addOwnHeaders(headers, this.req);
      return super.writeHead(status, headers);
    }

    sendJson(headers: readonly string[], text: string): void {
      const all = [...headers, "content-length", String(Buffer.byteLength(text))];
      addOwnHeaders(all, this.req);
      super.writeHead(200, all);
      this.end(text);
    }
  }

  /** What differs from request to request. */
  function addOwnHeaders(headers: string[], request: GateRequest): void {
    headers.push("X-Request-Id", request.requestId, "DPoP-Nonce", gate.dpopNonce());
    const origin = gate.cors.headersFor(request);
    if (origin.length > 0) headers.push(...origin);
    if (gate.phase === "closing") headers.push("Connection", "close");
  }

  function done(this: Response): void {
    gate.inFlight--;
    // A connection that waits for its next request need not hold on to the last one.
    const socket = this.req.socket as GateSocket;
    if (socket[latest] === this && this.req.complete) socket[latest] = undefined;
    gate.onDone(this);
  }

  return {
    IncomingMessage: Request as typeof IncomingMessage,
    ServerResponse: Response as unknown as typeof ServerResponse,
  };
}

const allDefaults: readonly string[] = Object.entries(defaultHeaders).flat();

/** The headers of an answer as Node takes them fastest, with the defaults that it does not replace. */
export function withDefaults(fixed: readonly string[], given: Head): string[] {
  if (Array.isArray(given)) return [...fixed, ...allDefaults, ...(given as string[])];
  const headers = [...fixed];
  for (let index = 0; index < allDefaults.length; index += 2) {
    const name = allDefaults[index] as string;
    if (given[name] === undefined) headers.push(name, allDefaults[index + 1] as string);
  }
  for (const name in given) headers.push(name, given[name] as string);
  return headers;
}
