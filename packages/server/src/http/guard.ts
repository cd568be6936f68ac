import { Fault } from "../fault.ts";
import type { HttpSettings } from "./http-settings.ts";
import type { GateRequest } from "./messages.ts";
import { readSingleHeaders } from "./single-headers.ts";
import { hasTokenInUrl } from "./token-in-url.ts";

const maxUrlLength = 2048;

/** Balancers ask these over plain http, from inside. */
const openPaths = new Set(["/healthz", "/readyz"]);

export type Guard = (request: GateRequest) => Fault | null;

/** What is checked of every request before anything looks at its path. */
export function createGuard(settings: Pick<HttpSettings, "mode">): Guard {
  const httpsOnly = settings.mode === "production";

  return function refusalOf(request) {
    // A client that has gone has no address any more: it must not be able to act under nobody's.
    if (request.socket.remoteAddress === undefined)
      return new Fault("invalid_request", { detail: "The client has gone." });
    const refused = refuseHeaders(request);
    if (refused !== null) return refused;
    const url = request.url as string;
    if (url.length > maxUrlLength) return new Fault("uri_too_long");
    if (httpsOnly && request.gate.forwarding.scheme(request) !== "https" && !openPaths.has(url)) {
      return new Fault("https_required");
    }
    return refuseUrl(url);
  };
}

function refuseUrl(url: string): Fault | null {
  if (hasTokenInUrl(url)) return new Fault("token_in_url");
  // No path of ours has one, and a database must never see one.
  if (url.includes("%00")) return new Fault("invalid_request", { message: "The address contains the character NUL." });
  return null;
}

function refuseHeaders(request: GateRequest): Fault | null {
  const twice = readSingleHeaders(request, request.single);
  if (twice !== null) return twice;
  if (request.single.host === undefined && request.httpVersion === "1.1") {
    return new Fault("invalid_request", { field: "host", message: "The header host is missing." });
  }
  return null;
}
