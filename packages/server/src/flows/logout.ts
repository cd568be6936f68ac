import { Fault } from "../fault.ts";
import type { Services } from "../services.ts";
import { endSessions, findSession, findSessionByTokenHash, type SessionRecord } from "../store/sessions.ts";
import { refreshTokenHash as hashOf, isGenuine, parseRefreshToken } from "../tokens/refresh-token.ts";
import { refreshKeyOf } from "./refresh-key.ts";

export interface LogoutRequest {
  readonly bearer: string | null;
  readonly refreshToken: string | undefined;
  readonly refreshTokenHash: string | undefined;
  readonly tenantId: string | null;
}

/** Ends the session that the request names. One that is already ended, or not there, is as good as ended. */
export async function logout(services: Services, request: LogoutRequest): Promise<void> {
  const { bearer, refreshToken, refreshTokenHash } = request;
  if (bearer === null && refreshToken === undefined && refreshTokenHash === undefined) {
    throw new Fault("invalid_token", { detail: "logout names no session" });
  }
  if (refreshToken !== undefined && refreshTokenHash !== undefined) {
    if (asBase64url(refreshTokenHash) !== hashOf(refreshToken)) {
      throw new Fault("invalid_request", {
        field: "refreshTokenHash",
        message: "refreshTokenHash is not the hash of refreshToken. Send one of them, or both of the same token.",
      });
    }
  }
  const named = [
    bearer === null ? null : await sessionOfBearer(services, bearer),
    refreshToken === undefined ? null : await sessionOfRefreshToken(services, refreshToken),
    refreshTokenHash === undefined ? null : await findSessionByTokenHash(services.store, asBase64url(refreshTokenHash)),
  ].filter((session) => session !== null);

  const [session] = named;
  if (!session) return;
  if (named.some((other) => other.id !== session.id)) {
    throw new Fault("invalid_request", { message: "The tokens of this request belong to different sessions." });
  }
  // An access token names its own tenant; a refresh token is good only in the one that the request names.
  if (bearer === null && request.tenantId !== null && request.tenantId !== session.tenantId) return;

  const ended = await services.store.transaction((tx) =>
    endSessions(tx, { tenantId: session.tenantId, sessionId: session.id }, "logout"),
  );
  services.revocations.add(ended);
}

async function sessionOfBearer({ store, tokenCheck }: Services, bearer: string): Promise<SessionRecord | null> {
  try {
    const { claims } = await tokenCheck.verify(bearer);
    return (await findSession(store, claims.sid))?.session ?? null;
  } catch (error) {
    if (error instanceof Fault && error.code === "session_revoked") return null;
    throw error;
  }
}

async function sessionOfRefreshToken(services: Services, token: string): Promise<SessionRecord | null> {
  const parts = parseRefreshToken(token);
  const found = parts && (await findSession(services.store, parts.family));
  if (!found) return null;
  const key = await refreshKeyOf(services, found.session);
  return key && isGenuine(key.secret, parts) ? found.session : null;
}

function asBase64url(hash: string): string {
  return hash.length === 64 ? Buffer.from(hash, "hex").toString("base64url") : hash;
}
