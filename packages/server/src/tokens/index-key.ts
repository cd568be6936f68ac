import { mac } from "./mac.ts";

/** Names a person in the budgets without saying who it is. */
export function budgetSubject(indexKey: Uint8Array, tenantId: string, usernameKey: string): string {
  return mac(indexKey, "budget-subject", tenantId, usernameKey);
}

/** Names one budget: what it counts, and for whom. */
export function budgetKey(indexKey: Uint8Array, ...parts: readonly string[]): string {
  return mac(indexKey, "budget", ...parts);
}

/** Names a network in the journal without keeping an address. */
export function networkMark(indexKey: Uint8Array, network: string): string {
  return mac(indexKey, "network", network).slice(0, 16);
}
