import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Forwarding } from "./forwarding.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A name of our own for each request; only a trusted proxy may bring one, and only a well-formed one. */
export function requestIdOf(request: IncomingMessage, forwarding: Forwarding): string {
  const given = request.headers["x-request-id"];
  if (typeof given === "string" && uuid.test(given) && forwarding.trusts(request)) return given;
  return randomUUID();
}
