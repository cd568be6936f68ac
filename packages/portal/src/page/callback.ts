import type { AuthManager } from "@fieldgate/client";
import type { AuthConfig } from "@fieldgate/contract";
import { providersOf } from "../sign-in/ways.ts";

/** Finishes a sign-in that went through an identity provider and came back to this page. */
export async function takeCallback(auth: AuthManager, config: AuthConfig): Promise<void> {
  const query = new URLSearchParams(location.search);
  const providers = providersOf(config);
  if (!query.has("state") || !(query.has("code") || query.has("error")) || providers.length === 0) return;
  const address = location.href;
  // A code is good once: a reload must not present it again.
  history.replaceState(null, "", location.pathname);
  let last: unknown;
  for (const { type } of providers) {
    try {
      await auth.handleCallback(type, address);
      return;
    } catch (error) {
      last = error;
    }
  }
  throw last;
}
