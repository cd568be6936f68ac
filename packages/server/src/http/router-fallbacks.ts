import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import { Fault } from "../fault.ts";
import type { GateResponse } from "./messages.ts";
import { sendFault } from "./problem.ts";

const methods = ["GET", "HEAD", "POST", "DELETE"] as const;

/** What the router answers when it finds no route. It reads no body for that. */
export function createRouterFallbacks(app: () => FastifyInstance) {
  function defaultRoute(request: IncomingMessage, response: ServerResponse): void {
    const [path = ""] = (request.url ?? "").split("?", 1);
    if (!canBeDecoded(path)) {
      onBadUrl(path, request, response);
      return;
    }
    const allowed = methods.filter((method) => app().findRoute({ method, url: path }) !== null);
    const allow = [...allowed, "OPTIONS"].join(", ");
    if (allowed.length === 0) sendFault(response as GateResponse, new Fault("not_found"));
    else if (request.method === "OPTIONS") response.writeHead(204, { allow }).end();
    else sendFault(response as GateResponse, new Fault("method_not_allowed"), { headers: { allow } });
  }

  return {
    defaultRoute,
    onBadUrl,
    onMaxParamLength(_path: string, _request: IncomingMessage, response: ServerResponse): void {
      sendFault(response as GateResponse, new Fault("uri_too_long"));
    },
  };
}

function onBadUrl(_path: string, _request: IncomingMessage, response: ServerResponse): void {
  const message = "The address is not valid: what follows a percent sign must be UTF-8 in hexadecimal digits.";
  sendFault(response as GateResponse, new Fault("invalid_request", { message }));
}

function canBeDecoded(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
