import { getCountryCallingCode, isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/min";
import { Fault } from "../fault.ts";
import type { Recipient } from "./identifiers.ts";
import type { TenantSettings } from "./tenant-settings.ts";

/** Refuses a phone number of a country that the tenant does not pay for. The rule is public: it names no person. */
export function demandAllowed({ kind, identity }: Recipient, settings: TenantSettings | undefined): void {
  if (kind !== "phone" || settings?.defaultCountry === undefined) return;
  const allowed = [settings.defaultCountry, ...(settings.otp?.countries ?? [])];
  if (allowed.includes("*")) return;
  const country = parsePhoneNumberFromString(identity)?.country;
  // Some calling codes are shared: then any of the allowed countries with that code will do.
  const sameCode = allowed.some((each) => callingCodeOf(identity) === callingCodeOf(identity, each));
  if (country === undefined ? sameCode : allowed.includes(country)) return;
  throw new Fault("invalid_request", {
    field: "recipient",
    message: `Codes are sent to phone numbers of ${allowed.join(", ")} alone.`,
  });
}

function callingCodeOf(identity: string, country?: string): string | undefined {
  if (country === undefined) return parsePhoneNumberFromString(identity)?.countryCallingCode;
  return isSupportedCountry(country) ? getCountryCallingCode(country) : undefined;
}
