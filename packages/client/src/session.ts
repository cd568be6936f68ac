import { readClaims } from "./encoding.ts";
import { NetworkError } from "./errors.ts";
import type { ServerClock } from "./server-clock.ts";
import type { StoredSession } from "./storage/storage.ts";

/** What a sign-in gives. An adapter of your own needs only the first two; durations are seconds. */
export interface SignInAnswer {
  readonly username: string;
  readonly token: string;
  readonly userId?: string;
  readonly tenantId?: string;
  readonly expiresIn?: number;
  readonly refreshToken?: string;
  readonly refreshExpiresIn?: number;
  readonly deviceToken?: string;
  /** What an identity provider needs to see when the person logs out. */
  readonly idToken?: string | undefined;
}

/** What of a session stays the same when it is renewed. */
export type SessionFrame = Pick<StoredSession, "version" | "provider" | "server" | "signedInAt" | "keyId" | "idToken">;

/** A session to store. An answer without a name or a token is not the service's, whatever its status says. */
export function toSession(answer: SignInAnswer, frame: SessionFrame, clock: ServerClock): StoredSession {
  const { username, token, userId, expiresIn, refreshToken, refreshExpiresIn } = answer;
  if (!username || !token) throw new NetworkError("The sign-in gave no token.");
  const renewedAt = clock.now();
  const after = (seconds: number | undefined) => (seconds === undefined ? undefined : renewedAt + seconds * 1000);
  return {
    ...frame,
    username,
    token,
    userId,
    refreshToken,
    renewedAt,
    skew: clock.skew,
    expiresAt: after(expiresIn) ?? (Number(readClaims(token)?.exp) * 1000 || undefined),
    refreshExpiresAt: after(refreshExpiresIn),
  };
}

/** Whether the token is over, as far as this device can tell. */
export function isOver({ expiresAt = Infinity }: StoredSession, now: number): boolean {
  return now >= expiresAt;
}

/** Until when somebody counts as signed in while the server cannot be asked. */
export function graceEnd(session: StoredSession, grace: number): number {
  const { refreshToken, refreshExpiresAt = Infinity, renewedAt = 0, expiresAt = Infinity } = session;
  return refreshToken ? Math.min(refreshExpiresAt, renewedAt + grace) : expiresAt;
}
