import type { Policy } from "../config/policy.ts";
import type { Recipient } from "../people/identifiers.ts";
import type { Budget, Rate } from "../store/budgets.ts";
import { budgetKey, budgetSubject } from "../tokens/index-key.ts";

/** Names a recipient in the budgets: every spelling of an address is the same one. */
export function recipientSubject(indexKey: Uint8Array, tenantId: string, recipient: Recipient): string {
  return budgetSubject(indexKey, tenantId, `${recipient.kind}:${recipient.budget}`);
}

/** Wrong codes: of a recipient across all its codes, or of a device that has proven to be one of the account's. */
export function failureBudget(
  indexKey: Uint8Array,
  policy: Policy["otp"],
  { tenantId, subject, deviceId }: { tenantId: string; subject: string; deviceId: string | null },
): Budget {
  const { limit, lock, maxLock, window } = policy.failures;
  return {
    key: budgetKey(indexKey, "otp-failure", tenantId, subject, deviceId ?? ""),
    subject,
    limit,
    window,
    lock: { first: lock, longest: maxLock },
  };
}

/** Tries where no code is alive count against the network alone: they cannot lock anyone out. */
export function strayRate(indexKey: Uint8Array, policy: Policy["otp"], tenantId: string, network: string): Rate {
  return { key: budgetKey(indexKey, "otp-stray", tenantId, network), subject: "", ...policy.strayPerNetwork };
}
