import type { Engine } from "./engine.ts";
import { AuthError } from "./errors.ts";
import type { StoredSession } from "./storage/storage.ts";

type Session = StoredSession;

/** The session in use: what storage holds, with a copy in memory so that reading a token costs nothing. */
export interface Sessions {
  readonly held: Session | null;
  /** Counts logouts, so that an answer that was under way can tell that one came between. */
  logouts: number;
  /** Reads what is stored, and tells of it; the first time as `restored`. */
  reload(): Promise<void>;
  /** Stores a new sign-in and gives the session it replaces, unless somebody logged out since `logouts` was read. */
  begin(next: Session, logouts: number): Promise<Session | null>;
  /** Takes note that storage now holds another session in this one's place. */
  swap(before: Session, next: Session | null): void;
  /** Notes that the server ended a session, where it still is the stored one. */
  end(before: Session, code: NonNullable<Session["ended"]>): Promise<void>;
  /** Removes the session of one provider, or of all, each after a last visit, and gives those that were there. */
  clear(provider: string | undefined, visit: (session: Session) => Promise<void>): Promise<readonly Session[]>;
}

const isSame = (a: Session | null, b: Session | null) => a?.version === b?.version && a?.provider === b?.provider;

export function createSessions({ storage, tabs, clock, servers, emit, warn }: Engine): Sessions {
  let held: Session | null = null;
  let restored = false;
  let removal: Promise<unknown> | undefined;
  // Raised with every change: what was read from storage before it is then no longer to be trusted.
  let generation = 0;

  function hold(next: Session | null): void {
    held = next;
    generation++;
    // What another tab, or an earlier start, has learned about this device's clock.
    clock.skew = next?.skew ?? clock.skew;
  }

  async function all(providers: string[]): Promise<Session[]> {
    return (await Promise.all(providers.map((provider) => storage.get(provider)))).filter((session) => !!session);
  }

  /** The latest living session, else the latest ended one. */
  async function latest(): Promise<Session | null> {
    const rank = ({ ended, signedInAt = 0 }: Session) => (ended ? 0 : 1 + signedInAt);
    const found = await all(await storage.providers());
    const ours = found.filter(({ server }) => !server || servers.has(server));
    return ours.sort((a, b) => rank(b) - rank(a))[0] ?? null;
  }

  function adopt(found: Session | null): void {
    const before = held;
    const ended = found?.ended;
    const living = ended ? null : found;
    const { evicted } = storage;
    if (restored && isSame(before, living)) return;
    hold(living);
    if (!restored) {
      restored = true;
      emit({ type: "restored", person: found, reason: evicted ? "evicted" : "never" });
    } else if (living) {
      const isRenewed = before?.provider === living.provider && before.signedInAt === living.signedInAt;
      emit({ type: isRenewed ? "verified" : "signedIn", person: living });
    } else if (!ended) {
      emit({ type: "loggedOut", reason: evicted ? "evicted" : "logout" });
    }
    if (ended) emit({ type: "ended", reason: ended });
  }

  async function reload(): Promise<void> {
    for (;;) {
      await removal;
      const read = generation;
      const found = await latest();
      if (read === generation) return adopt(found);
    }
  }

  async function remove(provider: string | undefined): Promise<void> {
    removal = storage.remove(provider).finally(() => {
      removal = undefined;
      generation++;
    });
    await removal;
  }

  return {
    get held() {
      return held;
    },
    logouts: 0,
    reload,

    async begin(next, logouts) {
      const { provider } = next;
      const before = await storage.get(provider);
      await storage.put(provider, next);
      if (this.logouts !== logouts) {
        await remove(provider);
        throw new AuthError("signed_out_meanwhile", "Somebody logged out meanwhile.");
      }
      hold(next);
      emit({ type: "signedIn", person: next });
      tabs.tell("session");
      return before;
    },

    swap(before, next) {
      if (isSame(held, before)) hold(next);
      tabs.tell("session");
    },

    async end(before, ended) {
      const { version, provider, username, server, signedInAt } = before;
      // Replaced, not removed: a removal cannot be conditional, and might take another tab's new sign-in with it.
      const left = { version: version + 1, provider, username, token: "", server, signedInAt, ended };
      try {
        if (!(await storage.replace(provider, version, left))) return await reload();
      } catch (cause) {
        warn("storage", cause);
      }
      if (isSame(held, before)) emit({ type: "ended", reason: ended });
      this.swap(before, null);
    },

    async clear(provider, visit) {
      this.logouts++;
      if (provider === undefined || held?.provider === provider) {
        hold(null);
        emit({ type: "loggedOut", reason: "logout" });
      }
      let going: Session[] = [];
      try {
        going = await all(provider === undefined ? await storage.providers() : [provider]);
        for (const session of going) await visit(session);
      } catch (cause) {
        warn("storage", cause);
      }
      await remove(provider);
      tabs.tell("logout");
      await reload();
      return going;
    },
  };
}
