import type { EntityEvent } from "./events/event.ts";
import { canonicalJson } from "./json.ts";

/** What the first event of a log is linked to. */
export const chainStart = "";

/**
 * Links an event to the one before it in its log: SHA-256 over the hash before and everything the event says. A changed event no
 * longer fits its hash; a missing one leaves a hash that the next does not fit.
 */
export async function chainHash(previous: string, event: EntityEvent): Promise<string> {
  const { id, entityId, type, data, author, deviceTime, sequence, baseVersion } = event;
  const username = author?.username ?? null;
  const text = canonicalJson([previous, { id, entityId, type, data, username, deviceTime, sequence, baseVersion }]);
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

export function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, "-")
    .replace(/\//g, "_")
    .replace(/=+$/, "");
}

export function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
}
