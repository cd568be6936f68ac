import type { Problem, Session } from "@fieldgate/contract";
import { expect } from "vitest";
import type { Store } from "../../src/store/store.ts";
import type { Answer, ApiClient } from "../kit/api-client.ts";
import { DpopKey } from "../kit/dpop-key.ts";
import { goodPassword } from "../kit/node.ts";
import { sidOf } from "../sessions/deployment.ts";

/** What the service has acknowledged of one session. */
interface Entry {
  readonly sid: string;
  readonly key: DpopKey | null;
  refreshToken: string;
  token: string;
  /** `perhaps`: it was asked for, and nobody knows whether that was heard. */
  ended: "no" | "perhaps" | "yes";
  /** A refresh was asked for, and nobody knows whether that was heard. */
  refreshing: boolean;
  /** The answers about it were right after the kill that followed it. */
  isChecked: boolean;
}

const counterOf = (refreshToken: string) => Number(refreshToken.split(".")[1]);

/** Works like several people at once until the node dies, and keeps account of what it was told. */
export class Ledger {
  readonly entries: Entry[] = [];
  acknowledged = 0;

  /** Runs until a request finds nobody. Every answer that does come must be a good one. */
  async workUntilKilled(api: ApiClient, username: string, bound: boolean): Promise<void> {
    try {
      for (;;) {
        const entry = await this.#signIn(api, username, bound);
        for (let steps = Math.random() * 8; steps > 0; steps -= 1) await this.#refresh(api, entry);
        if (Math.random() < 0.5) await this.#logout(api, entry);
      }
    } catch (error) {
      // `fetch` rejects so when the connection breaks or nobody listens.
      if (!(error instanceof TypeError)) throw error;
    }
  }

  async #signIn(api: ApiClient, username: string, bound: boolean): Promise<Entry> {
    const key = bound ? await DpopKey.create() : null;
    const answer = await api.login({ username, password: goodPassword }, key ? { key } : {});
    const { token, refreshToken } = this.#good(answer);
    const news = { ended: "no", refreshing: false, isChecked: false } as const;
    const entry: Entry = { sid: sidOf({ token }), key, token, refreshToken, ...news };
    this.entries.push(entry);
    return entry;
  }

  async #refresh(api: ApiClient, entry: Entry): Promise<void> {
    entry.refreshing = true;
    const answer = await api.refresh(entry.refreshToken, entry.key ? { key: entry.key } : {});
    Object.assign(entry, pick(this.#good(answer)), { refreshing: false });
  }

  async #logout(api: ApiClient, entry: Entry): Promise<void> {
    entry.ended = "perhaps";
    const answer = await api.logout({ body: { refreshToken: entry.refreshToken } });
    expect(answer.status, answer.text).toBe(204);
    entry.ended = "yes";
    this.acknowledged += 1;
  }

  #good(answer: Answer<Session & Problem>): Session {
    expect(answer.status, answer.text).toBe(200);
    this.acknowledged += 1;
    return answer.body;
  }

  /** Everything that was acknowledged is in the database, and nothing that nobody asked for. */
  async checkRows(store: Store): Promise<void> {
    const rows = await store.db.selectFrom("sessions").select(["id", "counter", "revoked_at"]).execute();
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const entry of this.entries) {
      const row = byId.get(entry.sid);
      if (!row) throw new Error("A sign-in that was acknowledged is lost.");
      const told = counterOf(entry.refreshToken);
      expect(row.counter, "a rotation that was acknowledged is lost").toBeGreaterThanOrEqual(told);
      expect(row.counter).toBeLessThanOrEqual(told + (entry.refreshing ? 1 : 0));
      if (entry.ended !== "perhaps") expect(row.revoked_at !== null).toBe(entry.ended === "yes");
    }
  }

  /** What lives goes on with what it has; what was ended stays so. Each session is asked about once. */
  async checkAnswers(api: ApiClient): Promise<void> {
    for (const entry of this.entries.filter(({ isChecked }) => !isChecked)) {
      entry.isChecked = true;
      const check = await api.checkToken(entry.token);
      if (entry.ended !== "perhaps") expect(check.status, check.text).toBe(entry.ended === "no" ? 200 : 401);
      const answer = await api.refresh(entry.refreshToken, entry.key ? { key: entry.key } : {});
      if (entry.ended === "perhaps") entry.ended = answer.status === 200 ? "no" : "yes";
      if (entry.ended === "yes") expect([answer.status, answer.body.code]).toEqual([401, "session_revoked"]);
      else Object.assign(entry, pick(this.#good(answer)), { refreshing: false });
    }
  }
}

function pick({ token, refreshToken }: Session): Pick<Session, "token" | "refreshToken"> {
  return { token, refreshToken };
}
