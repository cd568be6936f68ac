import type { LockPolicy, Policy } from "../config/policy.ts";
import type { Budget } from "../store/budgets.ts";
import { budgetKey, budgetSubject } from "../tokens/index-key.ts";

export interface PasswordAttempt {
  /** The tenant whose budgets count; every unknown tenant has the same. */
  readonly tenantId: string;
  readonly usernameKey: string;
  readonly network: string;
  /** The device, if it has proven to be one of this account's. */
  readonly deviceId: string | null;
}

/**
 * The budgets of a password attempt. A known device has its own, so that nobody elsewhere can lock the owner out. A
 * username counts the same whether anyone has it or not.
 */
export function passwordBudgets(indexKey: Uint8Array, policy: Policy["password"], attempt: PasswordAttempt): Budget[] {
  const { tenantId, usernameKey, network, deviceId } = attempt;
  const subject = budgetSubject(indexKey, tenantId, usernameKey);
  const key = (...parts: string[]) => budgetKey(indexKey, "password", tenantId, usernameKey, ...parts);
  if (deviceId !== null) return [{ key: key("device", deviceId), subject, ...locking(policy.perDevice) }];
  return [
    { key: key("network", network), subject, ...policy.perAddress },
    { key: key("user"), subject, ...locking(policy.perUser) },
  ];
}

function locking({ limit, lock, maxLock, window }: LockPolicy): Pick<Budget, "limit" | "window" | "lock"> {
  return { limit, window, lock: { first: lock, longest: maxLock } };
}
