import type { AuthManager } from "@fieldgate/client";
import type { CurrentUser, OwnSession, OwnSessions } from "@fieldgate/contract";
import { type Trouble, troubleOf } from "../sign-in/trouble.ts";

const path = "/api/users/me/sessions";
/** Browsers count timers in 31 bits. */
const longestTimer = 2 ** 31 - 1000;

/** Where the person is signed in, as the service says; null until it has said so. */
export class Devices {
  user: CurrentUser | null = null;
  list: readonly OwnSession[] | null = null;
  trouble: Trouble | null = null;
  /** One was just ended. */
  ended = false;
  readonly #changed: () => void;
  #auth: AuthManager | undefined;
  #end: ReturnType<typeof setTimeout> | undefined;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  async open(auth: AuthManager): Promise<void> {
    this.#auth = auth;
    this.user = null;
    this.list = null;
    this.ended = false;
    await this.read();
  }

  async read(): Promise<void> {
    await this.#attempt(async (auth) => {
      const [user, answer] = await Promise.all([auth.getCurrentUser(), auth.fetch(path)]);
      if (!answer.ok) throw await answer.json();
      this.user = user;
      this.list = ((await answer.json()) as OwnSessions).sessions;
      this.#watchEnd(auth);
    });
  }

  async end({ id }: OwnSession): Promise<void> {
    await this.#attempt(async (auth) => {
      const answer = await auth.fetch(`${path}/${encodeURIComponent(id)}`, { method: "DELETE" });
      // One that is gone already is as good as ended.
      if (!answer.ok && answer.status !== 404) throw await answer.json();
      this.list = this.list?.filter((session) => session.id !== id) ?? null;
      this.ended = true;
    });
  }

  /** A phone is passed on: when the time is over the page says so at once, and not at the next regular check. */
  #watchEnd(auth: AuthManager): void {
    clearTimeout(this.#end);
    const own = this.list?.find(({ current }) => current);
    const left = own ? Date.parse(own.expiresAt) - Date.now() : Infinity;
    if (left > longestTimer) return;
    this.#end = setTimeout(() => auth.getToken().catch(() => null), Math.max(0, left) + 500);
  }

  async #attempt(work: (auth: AuthManager) => Promise<void>): Promise<void> {
    this.trouble = null;
    try {
      if (this.#auth) await work(this.#auth);
    } catch (error) {
      this.trouble = troubleOf(error instanceof TypeError ? { code: "unreachable" } : error);
    }
    this.#changed();
  }
}
