import { sha256 } from "./encoding.ts";
import type { Engine } from "./engine.ts";
import { isUndecided } from "./errors.ts";
import type { StoredSession } from "./storage/storage.ts";

/** Logouts that the server is still to be told of. Of a session only the hash of its refresh token is kept. */
export interface LogoutQueue {
  add(session: Pick<StoredSession, "refreshToken" | "server">): Promise<void>;
  /** Tells the server of all, as far as it answers. */
  flush(): Promise<void>;
}

export function createLogoutQueue({ keys, connect, tenant, isOurServer }: Engine): LogoutQueue {
  return {
    async add({ refreshToken, server }) {
      if (!refreshToken || !server) return;
      const refreshTokenHash = await sha256(refreshToken);
      await keys().put("logout", refreshTokenHash, { refreshTokenHash, server });
    },

    async flush() {
      for (const [id, { refreshTokenHash, server }] of await keys().list("logout")) {
        if (!isOurServer(server)) continue;
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
