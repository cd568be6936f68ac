import type { Engine } from "../engine.ts";
import type { AuthError } from "../errors.ts";
import type { StoredSession } from "../storage/storage.ts";
import { sha256 } from "./base64url.ts";

/** Logouts that the server is still to be told of. Of a session only the hash of its refresh token is kept. */
export interface LogoutQueue {
  /** Drops the key of a session that is not wanted any more, and notes the session for the server. */
  discard(session: Partial<StoredSession>): Promise<void>;
  /** Tells the server of all, as far as it answers. */
  flush(): Promise<void>;
}

export function createLogoutQueue({ keys, connect, tenant, servers }: Engine): LogoutQueue {
  return {
    async discard({ keyId, refreshToken, server }) {
      if (refreshToken && server && globalThis.crypto?.subtle) {
        const refreshTokenHash = await sha256(refreshToken);
        await keys().put("logout", refreshTokenHash, { refreshTokenHash, server });
      }
      if (keyId) await keys().remove("pair", keyId);
    },

    async flush() {
      for (const [id, { refreshTokenHash, server }] of await keys().list("logout")) {
        if (!servers.has(server)) continue;
        try {
          const body = { refreshTokenHash, ...tenant };
          await connect(server).request("/api/users/logout", { body, keepalive: true });
        } catch (error) {
          if (isUndecided(error)) return;
        }
        // Done, or refused for good: asking again would change nothing.
        await keys().remove("logout", id);
      }
    },
  };
}

/** Offline, time-out, 408, 429, 5xx: nothing was decided, and nothing may be concluded. */
export function isUndecided(error: unknown): boolean {
  const { code, status = 0 } = error as AuthError;
  return code === "unreachable" || status === 408 || status === 429 || status >= 500;
}
