import { errorsOf, type Problem, type Route, routes, type Session } from "@fieldgate/contract";
import { expect } from "vitest";
import type { DpopKey } from "./dpop-key.ts";

export interface Answer<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
  readonly text: string;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly token?: string;
  /** Sends a DPoP proof with this key, asking for a nonce first where it is needed. */
  readonly key?: DpopKey;
}

/** Calls a node over HTTP as any client would, and holds every answer against the contract. */
export class ApiClient {
  readonly url: string;
  /** Where clients believe the service to be, and what proofs are made for: not the node's own address behind a balancer. */
  readonly publicUrl: string;
  #nonce = "";

  constructor(url: string, publicUrl = url) {
    this.url = url;
    this.publicUrl = publicUrl;
  }

  async call<Body = Problem>(route: Route, options: CallOptions = {}): Promise<Answer<Body>> {
    const answer = await this.#send<Body>(route, options);
    const code = (answer.body as { code?: string } | null)?.code;
    if (options.key && code === "use_dpop_nonce") return this.#send<Body>(route, options);
    return answer;
  }

  async #send<Body>(route: Route, { body, headers, token, key }: CallOptions): Promise<Answer<Body>> {
    const htu = `${this.publicUrl}${route.path}`;
    const response = await fetch(`${this.url}${route.path}`, {
      method: route.method,
      headers: {
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(key && { dpop: await key.proof({ htm: route.method, htu, nonce: this.#nonce }) }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    this.#nonce = response.headers.get("dpop-nonce") ?? this.#nonce;
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, text, body: parse(text) as Body };
    demandContract(route, answer);
    return answer;
  }

  login(body: Record<string, unknown>, options: Omit<CallOptions, "body"> = {}) {
    return this.call<Session & Problem>(routes.login, { ...options, body });
  }

  refresh(refreshToken: string, options: Omit<CallOptions, "body"> = {}) {
    return this.call<Session & Problem>(routes.refresh, { ...options, body: { refreshToken } });
  }

  checkToken(token: string) {
    return this.call<Record<string, unknown> & Problem>(routes.checkToken, { token });
  }

  me(token: string) {
    return this.call<Record<string, unknown> & Problem>(routes.me, { token });
  }

  logout(options: CallOptions) {
    return this.call<Problem | null>(routes.logout, options);
  }
}

function parse(text: string): unknown {
  return text === "" ? null : JSON.parse(text);
}

/** Every answer of the service is one the contract names. */
function demandContract(route: Route, answer: Answer): void {
  if (answer.status in route.response) return;
  const problem = answer.body as Problem;
  expect(errorsOf(route), `${route.method} ${route.path} answered ${answer.status} ${answer.text}`).toContain(
    problem.code,
  );
  expect(problem).toMatchObject({ status: answer.status, error: problem.code, message: problem.detail });
  expect(answer.headers.get("content-type")).toContain("application/problem+json");
}
