import { domainToASCII } from "node:url";
import { type CountryCode, parsePhoneNumberFromString } from "libphonenumber-js/min";
import { foldDigits } from "./digits.ts";

/**
 * One form for each spelling of an address or a number. Pure: what they mean to a tenant is for others to say.
 */
export type RecipientKind = "phone" | "email";

export interface Recipient {
  readonly kind: RecipientKind;
  /** What an account is found by: look-alikes stay apart. */
  readonly identity: string;
  /** What failures and messages are counted by: spellings of one address come together. */
  readonly budget: string;
}

/** E.164, or null where it cannot be a phone number. */
export function canonicalPhone(text: string, defaultCountry: string | undefined): string | null {
  const folded = phoneText(text);
  if (folded === null) return null;
  const phone = parsePhoneNumberFromString(folded, {
    ...(defaultCountry !== undefined && { defaultCountry: defaultCountry as CountryCode }),
    extract: false,
  });
  return phone?.isPossible() && phone.ext === undefined ? phone.number : null;
}

/** A number as it is dialled at home, in a country that is not known: its digits, or null where it cannot be one. */
export function homePhone(text: string): string | null {
  const digits = phoneText(text)?.replace(/[^+\d]/g, "") ?? "";
  return /^\d{7,15}$/.test(digits) ? digits : null;
}

function phoneText(text: string): string | null {
  const folded = foldDigits(text.normalize("NFKC")).trim();
  return /^[+\d(][\d\s().\-/]*$/.test(folded) ? folded : null;
}

const localPart = /^[^\s@"(),:;<>[\]\\\p{Cc}\p{Cf}]{1,64}$/u;
const domainLabel = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const domainName = new RegExp(`^(?:${domainLabel}\\.)+${domainLabel}$`);

/** The two forms of an email address, or null where it is none. */
export function canonicalEmail(text: string): { readonly identity: string; readonly budget: string } | null {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf("@");
  const local = trimmed.slice(0, Math.max(at, 0));
  const domain = domainToASCII(trimmed.slice(at + 1).replace(/\.$/, "")).toLowerCase();
  if (at < 1 || trimmed.length > 254 || !localPart.test(local) || /^\.|\.\.|\.$/.test(local)) return null;
  if (!domainName.test(domain)) return null;
  const lower = local.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const [untagged = ""] = local.normalize("NFKC").toLowerCase().split("+", 1);
  return { identity: `${lower}@${domain}`, budget: `${untagged || lower}@${domain}` };
}

/** A number as a person may write it: script, spaces, dashes and case do not matter, leading zeros do. */
export function canonicalNationalId(text: string): string | null {
  const folded = foldDigits(text.normalize("NFKC"))
    .toUpperCase()
    .replace(/[\s\-‐-―−./_'’·]/g, "");
  return /^[\p{L}\p{N}]{1,64}$/u.test(folded) ? folded : null;
}

export function parseRecipient(text: string, defaultCountry: string | undefined): Recipient | null {
  if (text.includes("@") || text.includes("＠")) {
    const email = canonicalEmail(text.replace("＠", "@"));
    return email && { kind: "email", ...email };
  }
  const phone = canonicalPhone(text, defaultCountry);
  return phone === null ? null : { kind: "phone", identity: phone, budget: phone };
}

/** The programme's own id of a person: spaces around it and ways to compose an accent do not matter, case does. */
export function canonicalExternalId(text: string): string {
  return text.normalize("NFC").trim();
}
