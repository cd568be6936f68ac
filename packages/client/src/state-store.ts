import { type AuthEvent, type AuthState, personOf, transition } from "./auth-state.ts";

/** Something a developer should know; nobody is signed out by it, and what can be tried again will be. */
export interface AuthWarning {
  readonly type: "warning";
  /**
   * What it is about:
   * - `storage`: it cannot be read or written now, or sessions will not outlive the page.
   * - `key`: no key can be made or kept here, such as on an http page; the session is not bound to one.
   * - `device`: the token that names this device cannot be read or kept.
   * - `logout`: the server was not told of a logout.
   * - `adapter`: one could not be loaded, initialized or logged out.
   * - `session`: it cannot be checked or renewed now.
   */
  readonly about: "storage" | "key" | "device" | "logout" | "adapter" | "session";
  readonly cause: unknown;
}

/** Called with the state at once, and then with each change and what led to it. */
export type AuthListener = (state: AuthState, event?: AuthEvent | AuthWarning) => void;

export interface StateStore {
  readonly state: AuthState;
  emit(event: AuthEvent): void;
  warn(about: AuthWarning["about"], cause: unknown): void;
  subscribe(listener: AuthListener): () => void;
}

export function createStateStore(): StateStore {
  let state: AuthState = { status: "uninitialized" };
  const listeners = new Set<{ listener: AuthListener }>();
  function tell(event: AuthEvent | AuthWarning): void {
    for (const { listener } of [...listeners]) {
      try {
        listener(state, event);
      } catch (error) {
        // A listener's mistake is its own: it shows as uncaught, and the session goes on.
        Promise.reject(error);
      }
    }
  }
  return {
    get state() {
      return state;
    },
    emit(event) {
      const after = transition(state, event);
      if (after === state) return;
      state = after;
      // A session is more than a person: its tokens are not for listeners.
      tell("person" in event && event.person ? { ...event, person: personOf(event.person) } : event);
    },
    warn: (about, cause) => tell({ type: "warning", about, cause }),
    subscribe(listener) {
      const subscription = { listener };
      listeners.add(subscription);
      listener(state);
      return () => {
        listeners.delete(subscription);
      };
    },
  };
}
