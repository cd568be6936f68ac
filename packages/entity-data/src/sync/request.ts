import { AuthError } from "@fieldgate/client";
import { EntityDataError } from "../errors.ts";
import { notAuthenticated } from "../vault/vault.ts";
import { Unanswered } from "./retry.ts";

/** The service does not want this request as it is; a smaller one may be welcome. */
export class Unwelcome extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface Request {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  readonly timeout: number;
}

/** Asks the service. Rejects with `Unanswered`, `Unwelcome`, or an `EntityDataError` that trying again will not help. */
export async function ask<T>({ fetch, signal, timeout }: Request, path: string, body?: string): Promise<T> {
  const timer = AbortSignal.timeout(timeout);
  const init: RequestInit = { signal: AbortSignal.any([signal, timer]), credentials: "omit" };
  if (body !== undefined)
    Object.assign(init, { method: "POST", body, headers: { "Content-Type": "application/json" } });
  let response: Response;
  let answer: { code?: string; detail?: string } | null;
  try {
    response = await fetch(path, init);
    answer = response.status === 204 ? {} : await response.json().catch((error) => passAbort(error, init.signal));
  } catch (cause) {
    if (cause instanceof EntityDataError) throw cause;
    if (cause instanceof AuthError && cause.code === "not_signed_in") throw notAuthenticated();
    if (cause instanceof AuthError && cause.code !== "unreachable") throw cause;
    throw new Unanswered("The service did not answer.", { cause, isSlow: timer.aborted });
  }
  const { status, ok, headers } = response;
  if (ok && answer) return answer as T;
  if (status === 401) throw notAuthenticated();
  const code = answer?.code;
  const isTemporary = status >= 500 || [408, 425, 429].includes(status);
  if (isTemporary || !code) {
    const retryAfter = Number(headers.get("Retry-After")) || 0;
    throw new Unanswered(`The service cannot answer now (${status}).`, { status, retryAfter });
  }
  const message = answer?.detail ?? code;
  if ([400, 413, 415, 422].includes(status)) throw new Unwelcome(code, message);
  throw new EntityDataError("refused", `The service refused: ${message}`, { status, problem: code });
}

/** An answer that is no JSON is somebody else's (a captive portal, a proxy); one that was cut off is none. */
function passAbort(error: unknown, signal: AbortSignal | null | undefined): null {
  if (signal?.aborted || (error as Error).name !== "SyntaxError") throw error;
  return null;
}
