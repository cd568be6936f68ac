import type { Problem } from "@fieldgate/contract";
import { AuthError, NetworkError } from "./errors.ts";
import type { Prover } from "./renewal/dpop.ts";
import type { ServerClock } from "./server-clock.ts";

export interface ApiRequest {
  readonly method?: "GET" | "POST";
  /** Sent as JSON; makes the request a POST. */
  readonly body?: object;
  /** The access token, sent as Bearer. */
  readonly token?: string;
  /** Proves possession of a key (`DPoP`). */
  readonly prove?: Prover | undefined;
  /** The token that names this device. */
  readonly device?: string | undefined;
  /** Lets the request outlive the page. */
  readonly keepalive?: boolean;
  /** What sends it, where that is not the plain `fetch`. */
  readonly via?: typeof fetch;
}

/** Speaks to one service. */
export interface ApiClient {
  /** The base URL, without a slash at its end. */
  readonly url: string;
  /**
   * Resolves with the JSON of a 2xx answer. Rejects with an `AuthError` that has the service's code, or with a `NetworkError`
   * when the service did not answer, or something else answered in its place (a captive portal, a proxy's error page).
   */
  request<T>(path: string, request?: ApiRequest): Promise<T>;
}

export interface ApiSettings {
  readonly fetch: typeof fetch;
  readonly clock: ServerClock;
  /** The device's clock in ms. */
  readonly now: () => number;
  /** Milliseconds an answer may take. */
  readonly timeout: number;
}

export function createApiClient(url: string, settings: ApiSettings): ApiClient {
  const { clock, fetch, now, timeout } = settings;
  let nonce: string | undefined;

  async function send(address: string, request: ApiRequest): Promise<Response> {
    const { body, token, prove, device, keepalive = false, via = fetch, method = body ? "POST" : "GET" } = request;
    const headers = {
      ...(body && { "Content-Type": "application/json" }),
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(device && { "X-Device-Token": device }),
      ...(prove && { DPoP: await prove(method, address, nonce) }),
    };
    try {
      return await via(address, {
        method,
        headers,
        keepalive,
        body: body ? JSON.stringify(body) : null,
        credentials: "omit",
        redirect: "error",
        signal: AbortSignal.timeout(timeout),
      });
    } catch (cause) {
      throw cause instanceof AuthError ? cause : new NetworkError(`${url} did not answer.`, { cause });
    }
  }

  return {
    url,
    async request<T>(path: string, request: ApiRequest = {}): Promise<T> {
      for (let isRetry = false; ; isRetry = true) {
        const response = await send(url + path, request);
        const { status, ok, headers } = response;
        const retryAfter = Number(headers.get("Retry-After")) || undefined;
        const answer = status === 204 ? {} : await response.json().catch(() => null);
        if (!answer || (!ok && !answer.code)) {
          throw new NetworkError(`${url} gave a foreign answer.`, { status, retryAfter });
        }
        nonce = headers.get("DPoP-Nonce") ?? nonce;
        const date = Date.parse(headers.get("Date") ?? "");
        if (date) clock.skew = date - now();
        if (ok) return answer;
        const { code, detail = code, field } = answer as Problem;
        // The nonce is known now: the same request, with a new proof, is welcome.
        if (code !== "use_dpop_nonce" || isRetry || !request.prove) {
          throw new AuthError(code, detail, { status, retryAfter, field, problem: answer });
        }
      }
    },
  };
}
