import { errors } from "@fieldgate/contract";
import { type DestinationStream, type Logger, pino } from "pino";
import type { Config } from "../config/config.ts";
import { networkOf } from "./client-address.ts";
import { describeError } from "./describe-error.ts";
import type { GateResponse } from "./messages.ts";
import { redactSecrets } from "./redact-secrets.ts";

const slowSeconds = 1;

/** The service's logger. We log no secrets in the first place; redaction is for the day somebody does. */
export function createLogger(level: Config["logLevel"], destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    serializers: { err: describeError },
    timestamp: pino.stdTimeFunctions.isoTime,
    // Not pino's own `redact`: names at any depth cost it thirty times the line itself, and refusals come in floods.
    formatters: { level: (label: string) => ({ level: label }), log: redactSecrets },
  };
  return destination ? pino(options, destination) : pino(options);
}

/**
 * One line for each request that failed or was slow; the others are only counted. It names the route's pattern and
 * the network the client is in: no query, no body, no username, no whole address.
 */
export function logRequest(logger: Logger, response: GateResponse, seconds: number): void {
  const { fault, req } = response;
  if (fault === null && seconds < slowSeconds) return;
  const line = {
    requestId: req.requestId,
    method: req.method,
    route: response.meter.route,
    status: response.statusCode,
    ms: Math.round(seconds * 1000),
    network: networkOf(req.gate.forwarding.clientAddress(req)),
    ...(fault && { error: fault.code }),
    ...(fault?.detail && { detail: fault.detail }),
  };
  if (fault && errors[fault.code].status >= 500) logger.error({ ...line, err: fault.cause ?? fault }, "request failed");
  else if (seconds >= slowSeconds) logger.warn(line, "request was slow");
  else logger.info(line, "request refused");
}
