import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { HandKeys } from "./keys.ts";
import type { HandDatabase } from "./statements.ts";
import {
  accessToken,
  checkProof,
  currentNonce,
  deviceToken,
  refreshToken,
  refreshTokenHash,
  sameText,
} from "./tokens.ts";

const form = /^([A-Za-z0-9_-]{22})\.(0|[1-9][0-9]{0,14})\.([A-Za-z0-9_-]{43})$/;
const accessSeconds = 600;

/**
 * The refresh endpoint and nothing else: no framework, no schema, no query builder, no limits, no metrics. The same
 * checks, statements, signatures and headers as the service; what it answers is as good.
 */
export function createHandServer(keys: HandKeys, database: HandDatabase, baseUrl: string): Server {
  const url = `${baseUrl}/api/users/refresh`;

  async function refresh(body: string, dpop: string | undefined): Promise<unknown> {
    const { refreshToken: presentedToken } = JSON.parse(body);
    const match = form.exec(presentedToken);
    const [, family = "", counter = ""] = match ?? [];
    const session = match && (await database.findSession(family));
    if (!session || !sameText(presentedToken, refreshToken(keys.refresh, family, Number(counter)))) return null;
    const proof = session.jkt === null ? null : checkProof(keys, dpop ?? "", "POST", url);
    if (session.jkt !== null && proof?.jkt !== session.jkt) return null;

    const presented = Number(counter);
    const next = refreshToken(keys.refresh, family, presented + 1);
    const rotated = await database.rotate({
      id: family,
      presented,
      presentedHash: refreshTokenHash(presentedToken),
      nextHash: refreshTokenHash(next),
      proofId: proof?.id ?? null,
      eventId: randomUUID(),
    });
    if (!rotated) return null;
    const now = Date.now();
    const expiresIn = Math.min(accessSeconds, Math.floor((rotated.absolute_expires_at - now) / 1000));
    return {
      username: rotated.username,
      userId: rotated.user_id,
      tenantId: rotated.tenant_id,
      token: accessToken(keys, baseUrl, rotated, expiresIn),
      tokenType: "Bearer",
      expiresIn,
      refreshToken: next,
      refreshExpiresIn: Math.floor((rotated.expires_at - now) / 1000),
      deviceToken: deviceToken(keys.device, rotated.device_id),
    };
  }

  async function answer(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const { dpop } = request.headers;
    const result = request.method === "POST" ? await refresh(body, typeof dpop === "string" ? dpop : undefined) : null;
    const text = JSON.stringify(result ?? { error: "refused" });
    response.writeHead(result ? 200 : 400, [
      ...["X-Content-Type-Options", "nosniff", "Referrer-Policy", "no-referrer", "Vary", "Origin"],
      ...["X-Request-Id", randomUUID(), "DPoP-Nonce", currentNonce(keys), "cache-control", "no-store"],
      ...["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
      ...["cross-origin-resource-policy", "same-origin", "content-type", "application/json; charset=utf-8"],
      ...["content-length", String(Buffer.byteLength(text))],
    ]);
    response.end(text);
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
