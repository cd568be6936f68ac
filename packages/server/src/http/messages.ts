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

/** What the two message classes of one server share. */
export interface Gate {
  readonly forwarding: Forwarding;
  readonly cors: Cors;
  readonly fixedHeaders: readonly string[];
  readonly dpopNonce: () => string;
  /** `leaving`: `/readyz` says 503 while all else goes on. `closing`: answers end their connections too. */
  phase: "open" | "leaving" | "closing";
  inFlight: number;
  /** Counts what no route has claimed. */
  readonly unmatched: RequestMeter;
  /** Called once per request, when the last byte is out or the client has gone. */
  onDone(response: GateResponse): void;
  /** Called when something that never became a request was answered. */
  onMalformed(code: ErrorCode): void;
}

export interface GateRequest extends IncomingMessage {
  readonly gate: Gate;
  readonly requestId: string;
}

export interface GateResponse extends ServerResponse<GateRequest> {
  readonly startedAt: number;
  meter: RequestMeter;
  /** Why the answer is no success, for the log. */
  fault: Fault | null;
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

    constructor(...args: ConstructorParameters<typeof ServerResponse<GateRequest>>) {
      super(...args);
      gate.inFlight++;
      (this.req.socket as GateSocket)[latest] = this;
      this.on("close", done);
    }

    override writeHead(status: number, reason?: string | Head, head?: Head): this {
      const given = (typeof reason === "string" ? head : reason) ?? {};
      const headers = [...gate.fixedHeaders, "X-Request-Id", this.req.requestId, "DPoP-Nonce", gate.dpopNonce()];
      const origin = gate.cors.headersFor(this.req);
      if (origin.length > 0) headers.push(...origin);
      if (gate.phase === "closing") headers.push("Connection", "close");
      addHeaders(headers, given);
      return super.writeHead(status, headers);
    }
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

function addHeaders(headers: string[], given: Head): void {
  if (Array.isArray(given)) {
    headers.push(...allDefaults, ...(given as string[]));
    return;
  }
  for (let index = 0; index < allDefaults.length; index += 2) {
    const name = allDefaults[index] as string;
    if (given[name] === undefined) headers.push(name, allDefaults[index + 1] as string);
  }
  for (const name in given) headers.push(name, given[name] as string);
}
