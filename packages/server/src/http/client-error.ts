import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type ErrorCode, errors } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import { type Gate, latestResponse } from "./messages.ts";
import { problemBody } from "./problem.ts";
import { defaultHeaders } from "./security-headers.ts";

interface ParserError extends Error {
  readonly code?: string | undefined;
  /** A Buffer, where it is the parser that complains. */
  readonly rawPacket?: unknown;
}

/** Answers what is no HTTP request, or never became a whole one, and closes the connection. */
export function answerClientError(gate: Gate, error: ParserError, socket: Duplex): void {
  const response = latestResponse(socket);
  const wasWhole = response?.req.complete === true;
  if (response && wasWhole && !response.writableFinished) {
    // The bad bytes came behind a good request: that one is answered, then the connection ends.
    response.shouldKeepAlive = false;
    return;
  }
  // Half a request that was refused already has had its answer.
  const answered = response?.headersSent === true && !wasWhole;
  if (error.code === "ECONNRESET" || !socket.writable || answered) {
    socket.destroy();
    return;
  }
  const code = codeOf(error);
  gate.onMalformed(code);
  socket.end(rawAnswer(gate, new Fault(code)), () => socket.destroy());
}

function codeOf(error: ParserError): ErrorCode {
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return "request_timeout";
  if (error.code !== "HPE_HEADER_OVERFLOW") return "invalid_request";
  // Where the first line alone fills the buffer, it is the address that is too long.
  const { rawPacket } = error;
  const noLineEnds = Buffer.isBuffer(rawPacket) && !rawPacket.subarray(0, 16 * 1024).includes("\r\n");
  return noLineEnds ? "uri_too_long" : "headers_too_large";
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
