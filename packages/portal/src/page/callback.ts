import type { AuthManager } from "@fieldgate/client";
import type { AuthConfig } from "@fieldgate/contract";
import { providersOf } from "../sign-in/ways.ts";

const namedKey = "fieldgate:tenant";

/**
 * An identity provider comes back to the plain address. Where the person had named a programme in it, the page is opened again under that
 * one, with the provider's answer: its policy, and its adapters, are the right ones then. True: this page goes.
 */
export function returnToNamed(): boolean {
  const query = new URLSearchParams(location.search);
  const named = query.get("tenant");
  const remembered = sessionStorage.getItem(namedKey);
  if (named !== null) sessionStorage.setItem(namedKey, named);
  else if (!query.has("state")) sessionStorage.removeItem(namedKey);
  else if (remembered !== null) {
    query.set("tenant", remembered);
    location.replace(`?${query}`);
    return true;
  }
  return false;
}

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
