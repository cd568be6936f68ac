import type { GateRequest } from "./messages.ts";

/** What a page of a listed origin may do. There are no cookies, so credentials are never allowed. */
export interface Cors {
  /** The headers for this request's origin, as name, value, name, value; none where the origin is not listed. */
  headersFor(request: GateRequest): readonly string[];
  /** The headers that answer a preflight, or null where this is none that we would grant. */
  preflight(request: GateRequest): readonly string[] | null;
}

const none: readonly string[] = [];
const exposed = "Date, DPoP-Nonce, Retry-After, WWW-Authenticate";
const granted = [
  "Access-Control-Allow-Methods",
  "GET, POST, DELETE",
  "Access-Control-Allow-Headers",
  "Authorization, DPoP, X-Tenant-Id, X-Device-Token, Content-Type",
  "Access-Control-Max-Age",
  "600",
] as const;

export function createCors(origins: readonly string[]): Cors {
  const headers = new Map<string, readonly string[]>(
    origins.map((origin) => [
      origin,
      ["Access-Control-Allow-Origin", origin, "Access-Control-Expose-Headers", exposed],
    ]),
  );

  function headersFor(request: GateRequest): readonly string[] {
    if (headers.size === 0) return none;
    const { origin } = request.single;
    return (origin !== undefined && headers.get(origin)) || none;
  }

  function preflight(request: GateRequest): readonly string[] | null {
    if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) return null;
    return headersFor(request).length === 0 ? null : granted;
  }

  return { headersFor, preflight };
}
