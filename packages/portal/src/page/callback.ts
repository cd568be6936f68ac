import type { AuthManager } from "@fieldgate/client";
import type { AuthConfig } from "@fieldgate/contract";
import { providersOf } from "../sign-in/ways.ts";

/** Finishes a sign-in that went through an identity provider and came back to this page. */
export async function takeCallback(auth: AuthManager, config: AuthConfig): Promise<void> {
  const query = new URLSearchParams(location.search);
  const providers = providersOf(config);
  if (!query.has("state") || !(query.has("code") || query.has("error")) || providers.length === 0) return;
  let refusal: unknown;
  for (const { type } of providers) {
    try {
      await auth.handleCallback(type);
      return;
    } catch (error) {
      refusal = error;
      // Only the adapter that sent the person away knows the answer; the others say that they did not.
      if ((error as { code?: string }).code !== "sign_in_expired") break;
    }
  }
  throw refusal;
}
