import type { SignedIn, SignInOptions, SignInRequest } from "./adapters/adapter.ts";
import { digest } from "./encoding.ts";
import type { Engine } from "./engine.ts";
import { AuthError } from "./errors.ts";
import { putBounded } from "./keys/key-database.ts";
import { type SignInAnswer, toSession } from "./session.ts";
import type { StoredSession } from "./storage/storage.ts";

/** Runs one sign-in from the first click to the stored session; whatever fails leaves everything as it was. */
export type SignIn = (
  provider: string,
  run: (request: SignInRequest) => Promise<SignInAnswer>,
  options?: SignInOptions,
) => Promise<SignedIn>;

export function createSignIn(engine: Engine): SignIn {
  const { sessions, keys, clock, settings, emit, attempt, discard } = engine;
  const { tenantId } = engine.storage;

  return async (provider, run, { server, bind, name } = {}) => {
    const { logouts } = sessions;
    emit({ type: "signInStarted", provider });
    // The device's token outlives a logout, so the name of its account is kept as a hash only.
    const place = name && globalThis.crypto?.subtle && (await digest(`${provider} ${name}`));
    let begun: Partial<StoredSession> = {};
    try {
      const bound = bind ? await attempt("key", (await engine.renewal()).bind(bind)) : undefined;
      begun = { keyId: bound?.keyId };
      const device = place && (await attempt("device", keys().get("device", place)))?.token;
      const answer = await run({ prove: bound?.prove, device });
      const { username, token, tenantId: given = tenantId, deviceToken, idToken } = answer;
      // Our own adapters have stored it themselves, with all that belongs to it.
      if (sessions.held?.provider === provider && sessions.held.token === token) return answer;
      if (tenantId && given !== tenantId) {
        throw new AuthError("tenant_mismatch", `The answer is for ${given}, not ${tenantId}.`);
      }
      const version = Math.floor(Math.random() * 2 ** 52);
      const frame = { version, provider, server, signedInAt: clock.now(), keyId: begun.keyId, idToken };
      const session = toSession(answer, frame, clock);
      begun = session;
      const replaced = await sessions.begin(session, logouts);
      engine.tokenCheck.note(token, "valid");
      if (replaced) {
        await discard(replaced);
        attempt("logout", engine.flushLogouts());
      }
      if (place && deviceToken) {
        const record = { at: settings.now(), token: deviceToken };
        await attempt("device", putBounded(keys(), "device", place, record));
      }
      return { username, token };
    } catch (error) {
      emit({ type: "signInFailed" });
      await discard(begun);
      throw error;
    }
  };
}
