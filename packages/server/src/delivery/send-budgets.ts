import { parsePhoneNumberFromString } from "libphonenumber-js/min";
import type { Policy } from "../config/policy.ts";
import type { Rate } from "../store/budgets.ts";
import { budgetKey } from "../tokens/index-key.ts";

/** What one more message has to fit into. The tenant's own budget is spent when a message is really sent. */
export function sendRates(
  indexKey: Uint8Array,
  policy: Policy["otp"],
  { tenantId, subject, network }: { tenantId: string; subject: string; network: string | null },
): Rate[] {
  const key = (...parts: string[]) => budgetKey(indexKey, "otp-send", tenantId, ...parts);
  return [
    { key: key("short", subject), subject, ...policy.perRecipient },
    { key: key("day", subject), subject, ...policy.perRecipientDay },
    ...(network === null ? [] : [{ key: key("network", network), subject: "", ...policy.perNetwork }]),
  ];
}

export function tenantSendRate(indexKey: Uint8Array, policy: Policy["otp"], tenantId: string): Rate {
  return { key: budgetKey(indexKey, "otp-send", tenantId, "tenant"), subject: "", ...policy.perTenant };
}

const prefixDigits = 3;

/** What a dialling prefix may cost a tenant; null for what has none. Pumped numbers lie beside each other. */
export function prefixSendRate(
  indexKey: Uint8Array,
  policy: Policy["otp"],
  tenantId: string,
  address: string,
): Rate | null {
  const phone = parsePhoneNumberFromString(address);
  if (!phone) return null;
  const prefix = `${phone.countryCallingCode} ${phone.nationalNumber.slice(0, prefixDigits)}`;
  return { key: budgetKey(indexKey, "otp-send", tenantId, "prefix", prefix), subject: "", ...policy.perPrefix };
}
