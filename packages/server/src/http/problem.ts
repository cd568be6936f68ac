import { type ErrorCode, errors, problemType } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import { StoreUnavailable } from "../store/store.ts";
import { challenge } from "./bearer.ts";
import type { GateResponse } from "./messages.ts";
import { type ValidationFailure, validationFault } from "./validation-fault.ts";

/** What any error is to a client. Whatever we do not know is `internal`: its cause is for the log alone. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof StoreUnavailable) return new Fault("unavailable", { cause: error });
  if (isValidationFailure(error)) return validationFault(error);
  const known = error instanceof Error && "code" in error ? frameworkFaults[String(error.code)] : undefined;
  return known ? known(error) : new Fault("internal", { cause: error });
}

const frameworkFaults: Readonly<Record<string, (cause: unknown) => Fault>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (cause) => new Fault("payload_too_large", { cause }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: (cause) => new Fault("unsupported_media_type", { cause }),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: (cause) =>
    new Fault("invalid_request", { cause, message: "The body is not as long as its Content-Length says." }),
  // The client went away while it was sending; nobody reads this answer.
  ECONNRESET: (cause) => new Fault("invalid_request", { cause, detail: "The client closed the connection." }),
};

function isValidationFailure(error: unknown): error is ValidationFailure {
  return error instanceof Error && "validation" in error && Array.isArray(error.validation);
}

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** The token came in the body, as check-token allows. */
  readonly tokenInBody?: boolean;
}

/** Answers with a fault: the one way an error leaves this service. */
export function sendFault(response: GateResponse, fault: Fault, options: SendOptions = {}): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.fault = fault;
  const { status } = errors[fault.code];
  const body = problemBody(fault, response.req.requestId);
  const head: Record<string, string | number> = {
    "content-type": "application/problem+json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    ...options.headers,
  };
  if (status === 429 || status === 503) head["retry-after"] = retryAfter(fault);
  if (status === 401) head["www-authenticate"] = challenge(aboutToken(fault) && tokenWasSent(response, options));
  response.writeHead(status, head);
  response.end(body);
}

function retryAfter(fault: Fault): number {
  return Math.max(1, Math.ceil(fault.retryAfter ?? 1));
}

function aboutToken(fault: Fault): boolean {
  return fault.code === "invalid_token" || fault.code === "session_revoked";
}

function tokenWasSent(response: GateResponse, options: SendOptions): boolean {
  return options.tokenInBody === true || response.req.single.authorization !== undefined;
}

/** The parts of a body that depend on its code alone, serialised once. */
const frames = new Map(
  Object.entries(errors).map(([code, { status, title }]) => [
    code,
    {
      start: `{"type":${JSON.stringify(problemType(code as ErrorCode))},"title":${JSON.stringify(title)},"status":${status},"detail":`,
      middle: `,"code":"${code}","error":"${code}","message":`,
    },
  ]),
);

/** The body of an error as the contract's `Problem`, its keys always in the same order. */
export function problemBody(fault: Fault, requestId: string): string {
  const frame = frames.get(fault.code);
  const sentence = JSON.stringify(fault.message);
  const field = fault.field === undefined ? "" : `,"field":${JSON.stringify(fault.field)}`;
  return `${frame?.start}${sentence}${frame?.middle}${sentence},"instance":"urn:uuid:${requestId}"${field}${extra(fault)}}`;
}

/** How to go on, where the fault says so: further members of the same object. */
function extra({ extra: members }: Fault): string {
  const text = JSON.stringify(members ?? {}).slice(1, -1);
  return text === "" ? "" : `,${text}`;
}
