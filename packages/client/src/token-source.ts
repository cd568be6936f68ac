import { isLiving } from "./auth-state.ts";
import type { Engine } from "./engine.ts";
import { graceEnd, isOver } from "./session.ts";
import type { StoredSession } from "./storage/storage.ts";

export interface TokenSource {
  /** A token validated for use; null when somebody has to sign in. Rejects when only time or the network can help. */
  use(): Promise<string | null>;
  /** The same after a service has refused this token. */
  useInsteadOf(refused: string): Promise<string | null>;
  /** The verdict of the session's own adapter. */
  isValid(session: StoredSession): Promise<boolean>;
  /** The token of a session that was found valid, of which the state is told. */
  accept(session: StoredSession | null): string | null;
  /** The server could not be asked: the grace runs, or is over. */
  unreachable(): void;
}

export function createTokenSource(engine: Engine): TokenSource {
  const { sessions, tokenCheck, clock, emit } = engine;
  const isPast = (session: StoredSession) => isOver(session, clock.now());

  async function validated(): Promise<string | null> {
    const renewal = sessions.held?.refreshToken ? await engine.renewal() : null;
    if (renewal && sessions.held) await renewal.refreshWhenDue(sessions.held);
    const { held } = sessions;
    if (!held || (await self.isValid(held))) return self.accept(held);
    const refusal = tokenCheck.last(held.token)?.code;
    if (renewal) {
      const token = await renewal.replaceRefused(held);
      if (token || !sessions.held) return token;
    } else if (refusal) {
      // Without a refresh token there is nobody else to ask.
      await sessions.end(held, refusal);
      return null;
    }
    emit({ type: "ended", reason: isPast(held) ? "grace_over" : "rejected" });
    return null;
  }

  const self: TokenSource = {
    async use() {
      if (!sessions.held || !tokenCheck.isFresh(sessions.held.token)) {
        await engine.attempt("storage", sessions.reload());
      }
      try {
        return await validated();
      } catch (error) {
        self.unreachable();
        const { held } = sessions;
        if (!held || !isLiving(engine.state)) return null;
        if (isPast(held)) throw error;
        return held.token;
      }
    },

    async useInsteadOf(refused) {
      const { held } = sessions;
      if (held?.token === refused) {
        if (held.refreshToken) await (await engine.renewal()).refresh();
        else tokenCheck.note(refused, "unknown");
      }
      return self.use();
    },

    isValid: async ({ provider, token }) => (await engine.adapterOf(provider)).validateToken(token),

    accept(session) {
      if (!session) return null;
      if (tokenCheck.last(session.token)?.verdict === "unknown") self.unreachable();
      else emit({ type: "verified", person: session });
      return session.token;
    },

    unreachable() {
      const { held } = sessions;
      if (!held) return;
      const until = graceEnd(held, engine.settings.offlineGrace);
      emit({ type: "unreachable", until });
      if (clock.now() >= until) emit({ type: "ended", reason: "grace_over" });
    },
  };
  return self;
}
