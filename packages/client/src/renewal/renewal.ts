import type { Engine } from "../engine.ts";
import { NetworkError } from "../errors.ts";
import { putBounded } from "../keys/key-database.ts";
import { isOver } from "../session.ts";
import type { StoredSession } from "../storage/storage.ts";
import { createProver, generatePair, type Prover } from "./dpop.ts";
import { createLogoutQueue, type LogoutQueue } from "./logout-queue.ts";
import { createRefresh } from "./refresh.ts";

export { PasswordAuthAdapter } from "../adapters/password.ts";
export { runAlone } from "./alone.ts";
export { base64url, sha256 } from "./base64url.ts";
export { isUndecided } from "./logout-queue.ts";
export { generatePair };

/**
 * What only sessions with a refresh token need: the workers'. It is a part of its own, which a page for citizens need not load.
 */
export interface Renewal extends LogoutQueue {
  /**
   * Renews the session in use; all callers of a tab share one attempt. Afterwards the session in use is the renewed one, another
   * tab's newer one, or none when the server ended it. Rejects when nothing could be decided, and then nothing has changed.
   */
  refresh(): Promise<void>;
  /** Renews the session in use when its end is near. A token that still serves makes a failure bearable. */
  refreshWhenDue(session: StoredSession): Promise<void>;
  /** Renews a session whose token is refused; null when that does not help. */
  replaceRefused(session: StoredSession): Promise<string | null>;
  /** Stores the key of a session before it is used, after making one where none is given. */
  bind(given: true | CryptoKeyPair): Promise<Binding>;
}

export interface Binding {
  readonly keyId: string;
  readonly prove: Prover;
}

export function createRenewal(engine: Engine): Renewal {
  const { sessions, keys, clock, connection, settings } = engine;
  const refresh = createRefresh(engine);
  // A token that its adapter refuses although the server has just given it: renewing it again would not help.
  let rejected: string | undefined;

  return {
    ...createLogoutQueue(engine),
    refresh,

    async refreshWhenDue(session) {
      if (!isDue(session, clock.now())) return;
      if (isOver(session, clock.now())) {
        if (connection.silence) throw connection.silence;
        await refresh();
      } else if (!connection.isPointless) {
        await refresh().catch(() => 0);
      }
    },

    async replaceRefused(session) {
      if (session.token === rejected) return null;
      await refresh();
      const { held } = sessions;
      if (!held || (await engine.tokens.isValid(held))) return engine.tokens.accept(held);
      // Over already, by our own clock alone: that is an opinion, and not what ends a session which can be renewed.
      if (isOver(held, clock.now())) throw new NetworkError("This device's clock is wrong, and the server is away.");
      rejected = held.token;
      return null;
    },

    async bind(given) {
      const pair = given === true ? await generatePair(keys().extractable) : given;
      const keyId = crypto.randomUUID();
      await putBounded(keys(), "pair", keyId, { at: settings.now(), pair });
      return { keyId, prove: createProver(pair, clock) };
    },
  };
}

/** Whether it is time to renew: within a minute of the end, or a quarter of a short life. */
export function isDue({ expiresAt = Infinity, renewedAt = 0 }: StoredSession, now: number): boolean {
  return now >= expiresAt - Math.min(60_000, (expiresAt - renewedAt) / 4);
}
