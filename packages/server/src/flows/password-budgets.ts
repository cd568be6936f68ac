import type { LockPolicy, Policy } from "../config/policy.ts";
import type { Budget, Rate } from "../store/budgets.ts";
import { budgetKey, budgetSubject } from "../tokens/index-key.ts";
import type { PasswordOrigin } from "./password-origin.ts";

export interface PasswordAttempt {
  /** The tenant whose budgets count; every unknown tenant has the same. */
  readonly tenantId: string;
  readonly usernameKey: string;
  readonly origin: PasswordOrigin;
}

/**
 * The budgets of a password attempt. A known device has its own, so that nobody elsewhere can lock the owner out. A
 * username counts the same whether anyone has it or not.
 */
export function passwordBudgets(indexKey: Uint8Array, policy: Policy["password"], attempt: PasswordAttempt): Budget[] {
  const { tenantId, usernameKey } = attempt;
  const { network, deviceId } = attempt.origin;
  const subject = budgetSubject(indexKey, tenantId, usernameKey);
  const key = (...parts: string[]) => budgetKey(indexKey, "password", tenantId, usernameKey, ...parts);
  if (deviceId !== null) return [{ key: key("device", deviceId), subject, ...locking(policy.perDevice) }];
  return [
    { key: key("network", network), subject, ...policy.perAddress },
    { key: key("user"), subject, ...locking(policy.perUser) },
  ];
}

/**
 * One password tried on many names counts where it comes from. Not reserved, only counted when it failed: everyone in a
 * network would wait for one row. So what is under way, at most a queue of checks, may go over the limit.
 */
export function placeRate(
  indexKey: Uint8Array,
  policy: Policy["password"],
  tenantId: string,
  { place }: PasswordOrigin,
): Rate | null {
  if (place === null) return null;
  return { key: budgetKey(indexKey, "password-place", tenantId, place), subject: "", ...policy.perNetwork };
}

function locking({ limit, lock, maxLock, window }: LockPolicy): Pick<Budget, "limit" | "window" | "lock"> {
  return { limit, window, lock: { first: lock, longest: maxLock } };
}
