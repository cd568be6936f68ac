import type { Services } from "../services.ts";
import { type Rate, spend } from "../store/budgets.ts";
import { prefixSendRate, tenantSendRate } from "./send-budgets.ts";

class OverBudget extends Error {
  override readonly name = "OverBudget";
  readonly which: "over_budget" | "over_prefix_budget";

  constructor(which: OverBudget["which"]) {
    super(which);
    this.which = which;
  }
}

/** Takes a message out of the tenant's budgets, all of them or none; says which one is used up. */
export async function payForMessage(
  { store, tenants, keyring }: Services,
  tenantId: string,
  address: string,
): Promise<OverBudget["which"] | null> {
  const { otp } = await tenants.policy(tenantId);
  const indexKey = keyring.mac("index").secret;
  const rates: [Rate | null, OverBudget["which"]][] = [
    // The tenant's own first, always: two messages that share both must not wait for each other.
    [tenantSendRate(indexKey, otp, tenantId), "over_budget"],
    [prefixSendRate(indexKey, otp, tenantId, address), "over_prefix_budget"],
  ];
  try {
    await store.transaction(async (tx) => {
      for (const [rate, which] of rates) if (rate && (await spend(tx, rate)) !== null) throw new OverBudget(which);
    });
    return null;
  } catch (error) {
    if (error instanceof OverBudget) return error.which;
    throw error;
  }
}
