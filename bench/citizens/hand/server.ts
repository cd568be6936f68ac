import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { currentNonce, deviceToken } from "../../service/hand/tokens.ts";
import { accessToken, type SessionRow } from "./crypto.ts";
import type { CitizenKeys } from "./keys.ts";
import { signInWithCode, signInWithNationalId } from "./sign-in.ts";
import type { HandDatabase } from "./statements.ts";

/**
 * Two endpoints and nothing else: no framework, no schema, no query builder, no metrics, one tenant that is known. The
 * same statements in the same transactions, the same cryptography and headers; what it answers is as good.
 */
export function createHandServer(keys: CitizenKeys, database: HandDatabase, baseUrl: string): Server {
  async function signIn(request: IncomingMessage, body: string): Promise<SessionRow | null> {
    if (request.method !== "POST") return null;
    if (request.url === "/api/auth/otp/verify") return signInWithCode(keys, database, JSON.parse(body));
    if (request.url !== "/api/auth/id/verify") return null;
    return signInWithNationalId(keys, database, JSON.parse(body), request.socket.remoteAddress ?? "");
  }

  async function answer(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const session = await signIn(request, body);
    const text = JSON.stringify(session ? citizenAnswer(session) : { error: "refused" });
    response.writeHead(session ? 200 : 401, [
      ...["X-Content-Type-Options", "nosniff", "Referrer-Policy", "no-referrer", "Vary", "Origin"],
      ...["X-Request-Id", randomUUID(), "DPoP-Nonce", currentNonce(keys), "cache-control", "no-store"],
      ...["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
      ...["cross-origin-resource-policy", "same-origin", "content-type", "application/json; charset=utf-8"],
      ...["content-length", String(Buffer.byteLength(text))],
    ]);
    response.end(text);
  }

  function citizenAnswer(session: SessionRow) {
    const expiresIn = Math.max(1, Math.round((session.absolute_expires_at - Date.now()) / 1000));
    return {
      username: session.username,
      token: accessToken(keys, baseUrl, session, expiresIn),
      tokenType: "Bearer",
      expiresIn,
      deviceToken: deviceToken(keys.device, session.device_id),
    };
  }

  return createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      answer(request, response, Buffer.concat(chunks).toString()).catch((error: unknown) => {
        process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
        response.destroy();
      });
    });
  });
}
