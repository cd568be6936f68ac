/** Who is signed in, and through which provider. */
export interface Person {
  readonly provider: string;
  readonly username: string;
}

/** Why nobody is signed in: nobody ever was, somebody left, or the browser threw the stored session away. */
export type SignedOutReason = "never" | "logout" | "evicted";

/**
 * Why a session is over. `invalid_grant`, `session_revoked` and `invalid_token` are the server's word and final. The
 * others are this device's opinion: the session stays in storage, and the server's word can still bring it back.
 */
export type EndReason = "invalid_grant" | "session_revoked" | "invalid_token" | "grace_over" | "rejected" | "key_lost";

export type AuthState =
  | { readonly status: "uninitialized" }
  | { readonly status: "signedOut"; readonly reason: SignedOutReason }
  | { readonly status: "signingIn"; readonly provider: string; readonly before: SettledState }
  | ({ readonly status: "signedIn" } & Person)
  | ({ readonly status: "refreshing" } & Person)
  /** The server cannot be asked. `until` is when patience ends, in ms of the server's clock. */
  | ({ readonly status: "offlineGrace"; readonly until: number } & Person)
  | ({ readonly status: "expired"; readonly reason: EndReason } & Person);

/** A state that a failed sign-in can fall back to. */
export type SettledState = Exclude<AuthState, { status: "uninitialized" | "signingIn" }>;

export type AuthEvent =
  /** Storage was read at the start. */
  | { readonly type: "restored"; readonly person: Person | null; readonly reason: SignedOutReason }
  | { readonly type: "signInStarted"; readonly provider: string }
  | { readonly type: "signInFailed" }
  /** A sign-in succeeded, here or in another tab. */
  | { readonly type: "signedIn"; readonly person: Person }
  | { readonly type: "refreshStarted" }
  /** The server renewed or confirmed the session. */
  | { readonly type: "verified"; readonly person: Person }
  /** Offline, time-out, 429, 5xx: nothing is known, so nothing ends. */
  | { readonly type: "unreachable"; readonly until: number }
  | { readonly type: "ended"; readonly reason: EndReason }
  | { readonly type: "loggedOut"; readonly reason: "logout" | "evicted" };

/** Whether somebody counts as signed in. */
export function isLiving(state: AuthState): boolean {
  if (state.status === "signingIn") return isLiving(state.before);
  return state.status === "signedIn" || state.status === "refreshing" || state.status === "offlineGrace";
}

export const personOf = ({ provider, username }: Person): Person => ({ provider, username });

const signedIn = (person: Person): SettledState => ({ status: "signedIn", ...personOf(person) });

/** What happens to a session. */
function settle(state: SettledState, event: AuthEvent): SettledState {
  if (state.status === "signedOut") return state;
  switch (event.type) {
    case "refreshStarted":
      // In grace the attempts repeat for days: a screen that flickers with each would only worry people.
      return state.status === "signedIn" ? { ...state, status: "refreshing" } : state;
    case "verified":
      return signedIn(event.person);
    case "unreachable":
      return state.status === "expired" ? state : { ...state, status: "offlineGrace", until: event.until };
    case "ended":
      return { status: "expired", ...personOf(state), reason: event.reason };
    default:
      return state;
  }
}

function next(state: AuthState, event: AuthEvent): AuthState {
  if (state.status === "uninitialized") {
    if (event.type !== "restored") return state;
    return event.person ? signedIn(event.person) : { status: "signedOut", reason: event.reason };
  }
  const before = state.status === "signingIn" ? state.before : state;
  switch (event.type) {
    case "signedIn":
      return signedIn(event.person);
    case "loggedOut":
      return { status: "signedOut", reason: event.reason };
    case "signInFailed":
      return before;
    case "signInStarted":
      return { status: "signingIn", provider: event.provider, before };
  }
  // While somebody signs in, what happens to the session before goes on behind it.
  const after = settle(before, event);
  return state.status === "signingIn" ? { ...state, before: after } : after;
}

/**
 * The state after an event. Defined for every event in every state; the same object comes back when nothing changed,
 * so that a subscriber can compare by identity. Only `ended` and `loggedOut` take a living session away.
 */
export function transition(state: AuthState, event: AuthEvent): AuthState {
  const after = next(state, event);
  return JSON.stringify(after) === JSON.stringify(state) ? state : after;
}
