import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Forwarding } from "./forwarding.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A name of our own for each request; only a trusted proxy may bring one, and only a well-formed one. */
export function requestIdOf(request: IncomingMessage, forwarding: Forwarding): string {
  if (!forwarding.trusts(request)) return randomUUID();
  const given = request.headers["x-request-id"];
  return typeof given === "string" && uuid.test(given) ? given : randomUUID();
}
