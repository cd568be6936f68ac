import { errors } from "@fieldgate/contract";
import { type DestinationStream, type Logger, pino } from "pino";
import type { Config } from "../config/config.ts";
import { networkOf } from "./client-address.ts";
import type { GateResponse } from "./messages.ts";

const slowSeconds = 1;

const secretNames = [
  "authorization",
  "dpop",
  "cookie",
  "password",
  "secret",
  "token",
  "accessToken",
  "refreshToken",
  "refreshTokenHash",
  "deviceToken",
  "idToken",
  "code",
  "otp",
];

/** The service's logger. We log no secrets in the first place; redaction is for the day somebody does. */
export function createLogger(level: Config["logLevel"], destination?: DestinationStream): Logger {
  const secret = secretNames.filter((name) => name !== "code");
  const paths = secret.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  const options = {
    level,
    base: null,
    redact: { paths: [...paths, '["x-device-token"]', '*["x-device-token"]', '*["set-cookie"]'], censor: "[secret]" },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return destination ? pino(options, destination) : pino(options);
}

/**
 * One line for each request that failed or was slow; the others are only counted. It names the route's pattern and
 * the client's network: no query, no body, no username, no address.
 */
export function logRequest(logger: Logger, response: GateResponse, seconds: number): void {
  const { fault, req } = response;
  const slow = seconds >= slowSeconds;
  if (fault === null && !slow) return;
  const status = response.statusCode;
  const line = {
    requestId: req.requestId,
    method: req.method,
    route: response.meter.route,
    status,
    ms: Math.round(seconds * 1000),
    network: networkOf(req.gate.forwarding.clientAddress(req)),
    ...(fault && { error: fault.code }),
    ...(fault?.detail && { detail: fault.detail }),
  };
  if (fault && errors[fault.code].status >= 500) logger.error({ ...line, err: fault.cause ?? fault }, "request failed");
  else if (slow) logger.warn(line, "request was slow");
  else logger.info(line, "request refused");
}
