import type { Engine } from "../engine.ts";
import { AuthError, NetworkError } from "../errors.ts";
import { type SignInAnswer, toSession } from "../session.ts";
import type { StoredSession } from "../storage/storage.ts";
import { runAlone } from "./alone.ts";
import { createProver } from "./dpop.ts";

/** See `Renewal.refresh`. */
export function createRefresh(engine: Engine): () => Promise<void> {
  const { sessions, storage, clock, onAnswer, emit } = engine;
  let flight: Promise<void> | undefined;

  async function renew(before: StoredSession): Promise<void> {
    // Another tab may have been faster. A storage that cannot be read now leaves us with the copy in memory.
    await sessions.reload().catch(() => 0);
    if (sessions.held?.version !== before.version) return;
    try {
      const { version, provider, server, signedInAt, keyId } = before;
      const adapter = await engine.adapterOf(provider);
      const answer = !server && adapter.refresh ? await adapter.refresh(before) : await present(before);
      onAnswer();
      const { idToken = before.idToken } = answer;
      const frame = { version: version + 1, provider, server, signedInAt, keyId, idToken };
      const next = toSession(answer, frame, clock);
      if (await store(before, next)) {
        engine.tokenCheck.note(next.token, "valid");
        emit({ type: "verified", person: next });
      } else if (!sessions.held) {
        // Somebody logged out while the answer was under way: the session must not live on at the server.
        await engine.discard(next);
        engine.attempt("logout", engine.flushLogouts());
      }
    } catch (error) {
      await afterRefusal(before, error);
    }
  }

  async function present({ refreshToken, keyId, server }: StoredSession): Promise<SignInAnswer> {
    const pair = keyId === undefined ? undefined : (await engine.keys().get("pair", keyId))?.pair;
    if (keyId !== undefined && !pair) {
      emit({ type: "ended", reason: "key_lost" });
      throw new AuthError("key_lost", "The key of this session is gone from this device.");
    }
    const request = { body: { refreshToken, ...engine.tenant }, prove: pair && createProver(pair, clock) };
    const ask = () => engine.connect(server).request<SignInAnswer>("/api/users/refresh", request);
    try {
      return await ask();
    } catch (error) {
      const { code, retryAfter } = error as AuthError;
      // The answer may have been lost on its way: the same token gives the same successor again.
      if (code !== "unreachable" || retryAfter) throw error;
      return ask();
    }
  }

  /** Stores the renewed session where the one it renews still is; false when it no longer was. */
  async function store(before: StoredSession, next: StoredSession): Promise<boolean> {
    try {
      if (!(await storage.replace(before.provider, before.version, next))) {
        await sessions.reload();
        return false;
      }
    } catch (cause) {
      // A new refresh token is not used before it is stored, and need not be: the old one gives it again. The new access token
      // serves until then.
      engine.warn("storage", cause);
      const { token, expiresAt, renewedAt, skew } = next;
      next = { ...before, token, expiresAt, renewedAt, skew };
    }
    sessions.swap(before, next);
    return true;
  }

  async function afterRefusal(before: StoredSession, cause: unknown): Promise<void> {
    const error = cause instanceof AuthError ? cause : new NetworkError("The session could not be renewed.", { cause });
    const { code } = error;
    const isFinal = error.status === 401 && (code === "invalid_grant" || code === "session_revoked");
    if (isFinal || code === "refresh_superseded") {
      // Another tab may have signed in anew, or be further on: what is stored decides.
      await sessions.reload().catch(() => 0);
      if (sessions.held?.version !== before.version) return;
    }
    if (isFinal) {
      onAnswer();
      return sessions.end(before, code);
    }
    if (code !== "key_lost") onAnswer(error);
    throw error;
  }

  return async () => {
    const { held } = sessions;
    if (!held?.refreshToken) return;
    if (!flight) {
      emit({ type: "refreshStarted" });
      flight = runAlone(engine.tabs.name, engine.settings.lockWait, () => renew(held)).finally(() => {
        flight = undefined;
      });
    }
    return flight;
  };
}
