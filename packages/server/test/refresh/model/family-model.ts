import { expect } from "vitest";

/** What the server answered to a refresh: the token it gave, or the code of its refusal. */
export type Outcome = { readonly given: string } | { readonly refused: string };

/** A request that reached the server: the counter of its token, and what came of it. */
export interface Presented {
  readonly counter: number;
  readonly outcome: Outcome;
}

export function counterOf(refreshToken: string): number {
  return Number(refreshToken.split(".")[1]);
}

/** What must be true of one bound family of refresh tokens, whatever happens to it. */
export class FamilyModel {
  readonly family: string;
  /** The counter of the newest token. */
  head = 0;
  ended = false;
  /** Every token that was ever given, by its counter: a second one for the same counter would be a fork. */
  readonly tokens = new Map<number, string>();

  constructor(first: string) {
    this.family = first.split(".")[0] ?? "";
    this.#remember(first);
  }

  get headToken(): string {
    return this.tokens.get(this.head) ?? "";
  }

  /** Judges requests that were under way at the same time, and moves on as they did. */
  judge(requests: readonly Presented[]): void {
    const { head } = this;
    if (this.ended) {
      for (const { outcome } of requests) expect(outcome).toEqual({ refused: "session_revoked" });
      return;
    }
    const rotates = requests.some(({ counter }) => counter === head);
    for (const { counter, outcome } of requests) {
      const mayBeOld = counter < head - 1 || (counter === head - 1 && rotates);
      const mayBeNew = counter >= head - 1;
      if ("given" in outcome) {
        expect(mayBeNew, `token ${counter} was accepted when ${head} was the newest`).toBe(true);
        this.#take(counter, outcome.given);
      } else {
        expect(outcome.refused, `token ${counter}, while ${head} was the newest`).toBe("refresh_superseded");
        expect(mayBeOld, `token ${counter} was superseded when ${head} was the newest`).toBe(true);
      }
    }
    if (rotates) this.head += 1;
  }

  /** Judges requests that were under way while the session was logged out: each came before it or after. */
  judgeRace(requests: readonly Presented[], headAfter: number): void {
    for (const { counter, outcome } of requests) {
      if ("given" in outcome) this.#take(counter, outcome.given);
      else expect(["refresh_superseded", "session_revoked"]).toContain(outcome.refused);
    }
    const mostRotated = !this.ended && requests.some(({ counter }) => counter === this.head) ? 1 : 0;
    expect(headAfter).toBeGreaterThanOrEqual(this.head);
    expect(headAfter).toBeLessThanOrEqual(this.head + mostRotated);
    this.head = headAfter;
    this.ended = true;
  }

  #take(counter: number, given: string): void {
    expect(counterOf(given), "the successor is the next in order").toBe(counter + 1);
    this.#remember(given);
  }

  #remember(token: string): void {
    expect(token.split(".")[0], "it belongs to the one family").toBe(this.family);
    const known = this.tokens.get(counterOf(token));
    if (known !== undefined) expect(token, "a fork").toBe(known);
    this.tokens.set(counterOf(token), token);
  }
}
