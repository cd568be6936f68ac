import { AuthError } from "../errors.ts";

/** The address of this page without its query; undefined where there is no page. */
export function pageAddress(): string | undefined {
  const { location } = globalThis;
  return location && location.origin + location.pathname;
}

/** Leaves this page. The promise ends only where the person comes back to the page as it was, by the back button. */
export function leavePage(url?: string): Promise<never> {
  if (url) location.assign(url);
  return new Promise((_, reject) => {
    globalThis.addEventListener?.("pageshow", ({ persisted }) => {
      if (persisted) reject(new AuthError("access_denied", "The person came back without signing in."));
    });
  });
}

/**
 * Takes the provider's answer out of the address bar: back to where the person was, or the same page without it. Nothing that a
 * provider or a link says decides where to, and another origin is never gone to.
 */
export function leaveCallback(url: string, returnTo?: string): void {
  const { location, history } = globalThis;
  if (location?.href !== url) return;
  const next = new URL(url);
  for (const name of ["code", "state", "iss", "session_state", "error", "error_description", "error_uri"]) {
    next.searchParams.delete(name);
  }
  const back = returnTo ? new URL(returnTo) : next;
  if (back.origin !== next.origin || back.pathname === next.pathname) {
    history.replaceState(history.state, "", back.origin === next.origin ? back : next);
  } else {
    location.replace(back);
  }
}
