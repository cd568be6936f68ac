import type { Route, Static, TSchema } from "@fieldgate/contract";
import type { FastifyRequest } from "fastify";
import { readBearer } from "./bearer.ts";
import type { GateRequest } from "./messages.ts";

export type BodyOf<R extends Route> = R extends { readonly body: infer Body extends TSchema }
  ? Static<Body>
  : undefined;

export type ParamsOf<R extends Route> = R extends { readonly params: infer Params }
  ? { readonly [Name in keyof Params]: string }
  : Record<never, string>;

/** What a handler may know of its request. Everything is worked out only when it is asked for. */
export class RouteContext<R extends Route = Route> {
  readonly #request: FastifyRequest;
  readonly #raw: GateRequest;

  constructor(request: FastifyRequest) {
    this.#request = request;
    this.#raw = request.raw as GateRequest;
  }

  get requestId(): string {
    return this.#raw.requestId;
  }

  /** As the schema of the route demands; its aliases have their canonical names. */
  get body(): BodyOf<R> {
    return this.#request.body as BodyOf<R>;
  }

  get params(): ParamsOf<R> {
    return this.#request.params as ParamsOf<R>;
  }

  /** The address of the client, seen through the trusted proxies; never IPv4 written as IPv6. */
  get clientAddress(): string {
    return this.#raw.gate.forwarding.clientAddress(this.#raw);
  }

  /** The host the client asked for, in lower case and without its port. */
  get host(): string {
    return this.#raw.gate.forwarding.host(this.#raw);
  }

  get tenantHeader(): string | null {
    return this.#header("x-tenant-id");
  }

  /** As it was sent: an empty one is a bad proof, and not the same as none. */
  get dpop(): string | null {
    const value = this.#raw.headers.dpop;
    return typeof value === "string" ? value : null;
  }

  get deviceToken(): string | null {
    return this.#header("x-device-token");
  }

  /** The Bearer token; null where none was sent. Throws `invalid_token` where the header is malformed. */
  get bearer(): string | null {
    return readBearer(this.#raw.headers.authorization);
  }

  #header(name: string): string | null {
    const value = this.#raw.headers[name];
    return typeof value === "string" && value !== "" ? value : null;
  }
}
