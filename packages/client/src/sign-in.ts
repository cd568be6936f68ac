import type { SignedIn, SignInOptions, SignInRequest } from "./adapters/adapter.ts";
import { sha256 } from "./encoding.ts";
import type { Engine } from "./engine.ts";
import { AuthError } from "./errors.ts";
import { putBounded } from "./keys/key-database.ts";
import { type SignInAnswer, toSession } from "./session.ts";
import type { StoredSession } from "./storage/storage.ts";

export interface SignIn {
  /** Runs one sign-in from the first click to the stored session; whatever fails leaves everything as it was. */
  signIn(
    provider: string,
    run: (request: SignInRequest) => Promise<SignInAnswer>,
    options?: SignInOptions,
  ): Promise<SignedIn>;
  /** Drops what belongs to a session that is not wanted any more, and notes it for the server. */
  discard(session: Pick<StoredSession, "keyId" | "refreshToken" | "server">): Promise<void>;
}

export function createSignIn(engine: Engine): SignIn {
  const { sessions, keys, clock, settings, emit, attempt } = engine;
  const { tenantId } = engine.storage;

  async function discard({ keyId, refreshToken, server }: Pick<StoredSession, "keyId" | "refreshToken" | "server">) {
    await attempt("logout", engine.logoutQueue.add({ refreshToken, server }));
    if (keyId) await attempt("key", keys().remove("pair", keyId));
  }

  return {
    discard,
    async signIn(provider, run, { server, bind, name } = {}) {
      const { logouts } = sessions;
      emit({ type: "signInStarted", provider });
      // The device's token outlives a logout, so the name of its account is kept as a hash only.
      const place = name && globalThis.crypto?.subtle && (await sha256(`${provider} ${name}`));
      let session: Partial<StoredSession> = {};
      try {
        const renewal = bind ? await engine.renewal() : undefined;
        const bound = renewal && (await attempt("key", renewal.bind()));
        session = { keyId: bound?.keyId };
        const device = place && (await attempt("device", keys().get("device", place)))?.token;
        const answer = await run({ prove: bound?.prove, device });
        const { token, tenantId: given = tenantId, deviceToken } = answer;
        // Our own adapters have stored it themselves, with all that belongs to it.
        if (sessions.held?.provider === provider && sessions.held.token === token) return answer;
        if (tenantId && given !== tenantId) {
          throw new AuthError("tenant_mismatch", `The service signed in to tenant ${given}, not ${tenantId}.`);
        }
        const version = (crypto.getRandomValues(new Uint32Array(1))[0] as number) * 2 ** 20;
        const frame = { version, provider, server, signedInAt: clock.now(), keyId: bound?.keyId };
        const next = toSession(answer, frame, clock);
        session = next;
        const replaced = await sessions.begin(next, logouts);
        engine.tokenCheck.note(token, "valid");
        if (replaced) {
          await discard(replaced);
          attempt("logout", engine.logoutQueue.flush());
        }
        if (place && deviceToken) {
          const record = { at: settings.now(), token: deviceToken };
          await attempt("device", putBounded(keys(), "device", place, record));
        }
        return { username: next.username, token };
      } catch (error) {
        emit({ type: "signInFailed" });
        await discard(session);
        throw error;
      }
    },
  };
}
