import { AuthError } from "../errors.ts";
import type { AdapterContext, SignedIn } from "./adapter.ts";

/**
 * Signs in through a window of its own, which comes back to this app, finishes there with `handleCallback` and closes itself. The
 * session is seen where both windows look: in the storage.
 */
export async function signInByPopup(url: string, context: AdapterContext): Promise<SignedIn> {
  const before = (await context.session())?.signedInAt;
  const popup = globalThis.open(url, `fieldgate-${context.provider}`, "popup,width=480,height=720");
  if (!popup)
    throw new AuthError("popup_blocked", "The browser blocked the sign-in window: call login() from a click.");
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    // Asked before the storage is: what the window did last is then in it.
    const { closed } = popup;
    const session = await context.session();
    if (session?.token && session.signedInAt !== before) {
      const token = await context.currentToken();
      if (token) return { username: session.username, token };
    }
    if (closed) throw new AuthError("access_denied", "The sign-in window was closed.");
  }
}
