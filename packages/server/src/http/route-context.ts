import type { Route, Static, TSchema } from "@fieldgate/contract";
import { readBearer } from "./bearer.ts";
import type { GateRequest } from "./messages.ts";
import { readQuery } from "./query.ts";

export type BodyOf<R extends Route> = R extends { readonly body: infer Body extends TSchema }
  ? Static<Body>
  : undefined;

export type ParamsOf<R extends Route> = R extends { readonly params: infer Params }
  ? { readonly [Name in keyof Params]: string }
  : Record<never, string>;

/** What a handler may know of its request. Everything is worked out only when it is asked for. */
export class RouteContext<R extends Route = Route> {
  readonly #raw: GateRequest;
  /** As the schema of the route demands; its aliases have their canonical names. */
  readonly body: BodyOf<R>;
  readonly params: ParamsOf<R>;

  constructor(request: GateRequest, body: unknown, params: unknown) {
    this.#raw = request;
    this.body = body as BodyOf<R>;
    this.params = params as ParamsOf<R>;
  }

  /** What follows the `?`; whatever is not among the names, or is there twice, is refused. */
  query<Name extends string>(names: Readonly<Record<Name, string>>): { readonly [Key in Name]?: string } {
    return readQuery(this.#raw.url ?? "", names);
  }

  get requestId(): string {
    return this.#raw.requestId;
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
    return this.#raw.single["x-tenant-id"] || null;
  }

  /** As it was sent: an empty one is a bad proof, and not the same as none. */
  get dpop(): string | null {
    return this.#raw.single.dpop ?? null;
  }

  get deviceToken(): string | null {
    return this.#raw.single["x-device-token"] || null;
  }

  /** The Bearer token; null where none was sent. Throws `invalid_token` where the header is malformed. */
  get bearer(): string | null {
    return readBearer(this.#raw.single.authorization);
  }
}
