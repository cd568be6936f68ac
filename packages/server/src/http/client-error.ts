import { randomUUID } from "node:crypto";
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type ErrorCode, errors } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import type { Gate } from "./messages.ts";
import { problemBody } from "./problem.ts";
import { defaultHeaders } from "./security-headers.ts";

interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

/**
 * Answers what is no HTTP request, or never became a whole one, and closes the connection. Returns the code it
 * answered with, or null where nobody could be answered.
 */
export function answerClientError(gate: Gate, error: ParserError, socket: Duplex): ErrorCode | null {
  const pending = (socket as { _httpMessage?: ServerResponse | null })._httpMessage;
  if (pending?.req.complete) {
    // The bad bytes came after a good request: that one is answered first.
    pending.shouldKeepAlive = false;
    return null;
  }
  if (error.code === "ECONNRESET" || !socket.writable || pending?.headersSent) {
    socket.destroy();
    return null;
  }
  const code = codeOf(error);
  socket.end(rawAnswer(gate, new Fault(code)), () => socket.destroy());
  return code;
}

function codeOf(error: ParserError): ErrorCode {
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return "request_timeout";
  if (error.code !== "HPE_HEADER_OVERFLOW") return "invalid_request";
  // Where the first line alone fills the buffer, it is the address that is too long.
  const firstLine = error.rawPacket?.subarray(0, 16 * 1024);
  return firstLine && !firstLine.includes("\r\n") ? "uri_too_long" : "headers_too_large";
}

function rawAnswer(gate: Gate, fault: Fault): string {
  const requestId = randomUUID();
  const body = problemBody(fault, requestId);
  const { status } = errors[fault.code];
  const headers = [
    ...gate.fixedHeaders,
    ...Object.entries(defaultHeaders).flat(),
    "Date",
    new Date().toUTCString(),
    "X-Request-Id",
    requestId,
    "DPoP-Nonce",
    gate.dpopNonce(),
    "Content-Type",
    "application/problem+json; charset=utf-8",
    "Content-Length",
    String(Buffer.byteLength(body)),
    "Connection",
    "close",
  ];
  const lines = Array.from({ length: headers.length / 2 }, (_, row) => `${headers[2 * row]}: ${headers[2 * row + 1]}`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
}
