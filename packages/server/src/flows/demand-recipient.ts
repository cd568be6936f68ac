import { Fault } from "../fault.ts";
import { homePhone, parseRecipient, type Recipient } from "../people/identifiers.ts";
import type { CitizenTenant } from "./citizen-tenant.ts";

/** The recipient that a request names, or `invalid_request`. */
export function demandRecipient({ tenant }: CitizenTenant, text: string): Recipient {
  const recipient = parseRecipient(text, tenant?.settings.defaultCountry) ?? (tenant ? null : strangersPhone(text));
  if (recipient) return recipient;
  throw new Fault("invalid_request", {
    field: "recipient",
    message: "recipient must be a phone number, best with its country code such as +254…, or an email address.",
  });
}

/** An unknown tenant has no country; a number without one is nobody's there, and must not tell that the tenant is unknown. */
function strangersPhone(text: string): Recipient | null {
  const digits = homePhone(text);
  return digits === null ? null : { kind: "phone", identity: digits, budget: digits };
}
