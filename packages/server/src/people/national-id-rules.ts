import { passesLuhn, passesVerhoeff } from "./check-digit.ts";

/** What a tenant knows of its ID numbers. */
export interface NationalIdSettings {
  /** `always`: every sign-in with an ID number needs a code as well. */
  readonly secondStep?: "when_needed" | "always";
  /** Whether a year or a month alone may be given as date of birth; yes where nothing is said. */
  readonly birthYearAlone?: boolean;
  readonly checksum?: "verhoeff" | "luhn";
  /** What a canonical number (upper case, no separators) looks like. */
  readonly pattern?: string;
  /** What happens to a number that breaks these rules: an import warns or refuses; a sign-in refuses or lets it pass. */
  readonly onMismatch?: "warn" | "refuse";
}

/** Why a number cannot be one of the tenant's; null where it can. */
export function nationalIdProblem(canonical: string, rules: NationalIdSettings | undefined): string | null {
  if (rules?.pattern !== undefined && !new RegExp(`^(?:${rules.pattern})$`, "u").test(canonical)) {
    return "does not look like one of this tenant's ID numbers";
  }
  if (rules?.checksum === "verhoeff" && !passesVerhoeff(canonical)) return "has a wrong check digit";
  if (rules?.checksum === "luhn" && !passesLuhn(canonical)) return "has a wrong check digit";
  return null;
}
