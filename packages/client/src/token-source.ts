import { isLiving } from "./auth-state.ts";
import type { Engine } from "./engine.ts";
import { NetworkError } from "./errors.ts";
import { graceEnd, isDue, isOver } from "./session.ts";
import type { StoredSession } from "./storage/storage.ts";

export interface TokenSource {
  /** A token validated for use; null when somebody has to sign in. Rejects when only time or the network can help. */
  use(): Promise<string | null>;
  /** The same after a service has refused this token. */
  useInsteadOf(refused: string): Promise<string | null>;
  /** The server could not be asked: the grace runs, or is over. */
  unreachable(): void;
}

export function createTokenSource(engine: Engine): TokenSource {
  const { sessions, tokenCheck, connection, clock, emit } = engine;
  // A token that its adapter refuses although the server has just given it: renewing it again would not help.
  let rejected: string | undefined;

  const refresh = async () => (await engine.renewal()).refresh();
  const isPast = (session: StoredSession) => isOver(session, clock.now());

  async function isValid({ provider, token }: StoredSession): Promise<boolean> {
    return (await engine.adapterOf(provider)).validateToken(token);
  }

  function unreachable(): void {
    const { held } = sessions;
    if (!held) return;
    const until = graceEnd(held, engine.settings.offlineGrace);
    emit({ type: "unreachable", until });
    if (clock.now() >= until) emit({ type: "ended", reason: "grace_over" });
  }

  function accept(session: StoredSession): string {
    if (tokenCheck.last(session.token)?.verdict === "unknown") unreachable();
    else emit({ type: "verified", person: session });
    return session.token;
  }

  async function renewWhenDue(session: StoredSession): Promise<void> {
    if (!isDue(session, clock.now())) return;
    if (isPast(session)) {
      if (connection.silence) throw connection.silence;
      await refresh();
    } else if (!connection.isPointless) {
      // The token still serves: there will be other chances.
      await refresh().catch(() => 0);
    }
  }

  async function validated(): Promise<string | null> {
    if (sessions.held) await renewWhenDue(sessions.held);
    let { held } = sessions;
    if (!held) return null;
    if (await isValid(held)) return accept(held);

    const { token, refreshToken } = held;
    const refusal = tokenCheck.last(token)?.code;
    if (refreshToken && token !== rejected) {
      await refresh();
      held = sessions.held;
      if (!held) return null;
      if (await isValid(held)) return accept(held);
      // Over already, by our own clock alone: that is an opinion, and not what ends a session which can be renewed.
      if (isPast(held)) throw new NetworkError("This device's clock is wrong, and the server cannot be asked.");
      rejected = held.token;
    } else if (refusal) {
      // Without a refresh token there is nobody else to ask.
      await sessions.end(held, refusal);
      return null;
    }
    emit({ type: "ended", reason: isPast(held) ? "grace_over" : "rejected" });
    return null;
  }

  async function use(): Promise<string | null> {
    if (!sessions.held || !tokenCheck.isFresh(sessions.held.token)) {
      await engine.attempt("storage", sessions.reload());
    }
    try {
      return await validated();
    } catch (error) {
      unreachable();
      const { held } = sessions;
      if (!held || !isLiving(engine.state)) return null;
      if (isPast(held)) throw error;
      return held.token;
    }
  }

  return {
    use,
    async useInsteadOf(refused) {
      const { held } = sessions;
      if (held?.token === refused) {
        if (held.refreshToken) await refresh();
        else tokenCheck.note(refused, "unknown");
      }
      return use();
    },
    unreachable,
  };
}
