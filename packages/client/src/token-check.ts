import type { TokenVerdict } from "@fieldgate/contract";
import type { ApiClient } from "./api-client.ts";
import type { Engine } from "./engine.ts";
import { type AuthError, NetworkError } from "./errors.ts";

/** What the server says of a token. `unknown`: it could not be asked. */
export type Verdict = "valid" | "invalid" | "unknown";

/** How the last check of a token went. */
export interface CheckedToken {
  readonly token: string;
  readonly verdict: Verdict;
  readonly code?: "invalid_token" | "session_revoked" | undefined;
  /** By the device's clock, in ms. */
  readonly at: number;
}

export interface TokenCheck {
  /** The server's verdict, at most a minute old where it can be asked. */
  check(token: string, api: ApiClient): Promise<Verdict>;
  /** How the last check of this token went, where there was one. */
  last(token: string): CheckedToken | undefined;
  /** Whether the last check of this token still holds. */
  isFresh(token: string): boolean;
  /** Notes a verdict: of a token that the server has just given, or that somebody has refused. */
  note(token: string, verdict: Verdict, code?: CheckedToken["code"]): Verdict;
}

export function createTokenCheck({ settings, connection, onAnswer }: Engine): TokenCheck {
  let noted: CheckedToken | undefined;
  let flight: { token: string; verdict: Promise<Verdict> } | undefined;

  async function ask(token: string, api: ApiClient): Promise<Verdict> {
    try {
      const { valid } = await api.request<TokenVerdict>("/api/users/check-token", { method: "POST", token });
      if (valid !== true) throw new NetworkError(`${api.url} gave a foreign answer.`);
      onAnswer();
      return self.note(token, "valid");
    } catch (error) {
      const { status, code } = error as AuthError;
      // Nothing but these two is a word about the token.
      if (status === 401 && (code === "invalid_token" || code === "session_revoked")) {
        onAnswer();
        return self.note(token, "invalid", code);
      }
      onAnswer(error as AuthError);
      return self.note(token, "unknown");
    }
  }

  const self: TokenCheck = {
    async check(token, api) {
      if (noted && self.isFresh(token)) return noted.verdict;
      if (connection.isPointless) return self.note(token, "unknown");
      if (flight?.token !== token) {
        const verdict = ask(token, api).finally(() => {
          flight = undefined;
        });
        flight = { token, verdict };
      }
      return flight.verdict;
    },
    last: (token) => (noted?.token === token ? noted : undefined),
    isFresh(token) {
      const last = self.last(token);
      // A negative age means that the device's clock was set back.
      const age = last ? settings.now() - last.at : -1;
      return last?.verdict !== "unknown" && age >= 0 && age < settings.verdictAge;
    },
    note(token, verdict, code) {
      noted = { token, verdict, code, at: settings.now() };
      return verdict;
    },
  };
  return self;
}
