import type { NationalId } from "./beneficiary.ts";
import type { BirthDate } from "./birth-date.ts";
import { birthCalendars } from "./calendars.ts";
import type { NationalIdSettings } from "./national-id-rules.ts";

/** What can be said of a person, and how; in the order in which exports write it. */
export const personColumns = {
  external_id: "the programme's own id of the person: rows are found again by it",
  given_name: "the name that a household is shown",
  family_name: "the family name",
  full_name: "the whole name, where it does not fall into the two",
  date_of_birth: "YYYY, YYYY-MM or YYYY-MM-DD: as much as is known",
  birth_calendar: `${birthCalendars.join(", ")} (default gregorian); stored as gregorian`,
  birth_estimated: "true where the date was guessed",
  language: "what messages are written in: a tag such as sw or pt-BR",
  phones: "phone numbers, best with country code",
  emails: "email addresses",
  national_ids: "ID numbers, each as type:number, such as nid:12345678",
  disabled: "true closes every way in, false opens them again",
} as const;
export type PersonColumn = keyof typeof personColumns;

/** Values by column, of whatever type they came in. A column that is left out says nothing. */
export type PersonValues = Readonly<Partial<Record<PersonColumn, unknown>>>;

/** What was said of a person, in canonical form. What is left out stays as it is; null and empty lists take away. */
export interface PersonInput {
  readonly externalId?: string | null;
  readonly given?: string | null;
  readonly family?: string | null;
  readonly full?: string | null;
  readonly birth?: BirthDate | null;
  readonly language?: string | null;
  readonly phones?: readonly string[];
  readonly emails?: readonly string[];
  readonly nationalIds?: readonly NationalId[];
  readonly disabled?: boolean;
}

/** Names a field and says what is wrong with it; never the value. */
export interface FieldProblem {
  readonly field: string;
  readonly reason: string;
}

export interface InputRules {
  readonly defaultCountry: string | undefined;
  readonly nationalId: NationalIdSettings | undefined;
  /** Milliseconds: nobody is born later. */
  readonly now: number;
}

export interface ReadPerson {
  readonly input: PersonInput;
  /** Why the person cannot be taken; empty where they can. */
  readonly problems: readonly FieldProblem[];
  /** What to look at, though the person was taken. */
  readonly warnings: readonly FieldProblem[];
}
