import type { NationalId } from "./beneficiary.ts";
import type { BirthDate } from "./birth-date.ts";
import { type BirthCalendar, birthCalendars, toGregorianBirth } from "./calendars.ts";
import { foldDigits } from "./digits.ts";
import { canonicalEmail, canonicalExternalId, canonicalNationalId, canonicalPhone } from "./identifiers.ts";
import { nationalIdProblem } from "./national-id-rules.ts";
import type { FieldProblem, InputRules, PersonColumn, PersonValues, ReadPerson } from "./person-columns.ts";

const maxLength = 200;
const maxItems = 20;
/** Marks that word processors put around numbers; they are no part of one. */
const invisible = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

/** Format characters, and letters that are blank. */
const invisibleInNames = /[\p{Cf}\u115f\u1160\u2800\u3164\uffa0]/u;
/** Persian and Indic scripts need these between letters; anywhere else they hide. */
const joiners = /(?<=[\p{L}\p{M}])[\u200c\u200d](?=[\p{L}\p{M}])/gu;

/** Reads one person from what a file or a command line says. */
export function readPerson(values: PersonValues, rules: InputRules): ReadPerson {
  const problems: FieldProblem[] = [];
  const warnings: FieldProblem[] = [];
  const problem = (field: string, reason: string): undefined => void problems.push({ field, reason });

  function text(column: PersonColumn): string | null | undefined {
    const value = values[column];
    if (value === undefined || value === null) return value;
    if (typeof value !== "string") return problem(column, "must be text");
    const clean = value.normalize("NFC").replace(/\s+/gu, " ").trim();
    if (clean.length > maxLength) return problem(column, `is longer than ${maxLength} characters`);
    if (/\p{Cc}/u.test(clean)) return problem(column, "holds control characters");
    if (!clean.isWellFormed()) return problem(column, "holds half a character");
    return clean === "" ? null : clean;
  }

  /** Households choose by names: what cannot be seen, or turns the line around, would make one look like another. */
  function name(column: PersonColumn): string | null | undefined {
    const said = text(column);
    if (typeof said !== "string") return said;
    if (invisibleInNames.test(said.replace(joiners, ""))) return problem(column, "holds invisible characters");
    if (!/[\p{L}\p{N}]/u.test(said)) return problem(column, "holds no letter");
    if (/[<>]|:\/\//.test(said)) return problem(column, "holds markup or a link");
    return said;
  }

  function list<Item>(column: PersonColumn, read: (item: unknown, field: string) => Item | undefined) {
    const value = values[column];
    if (value === undefined) return undefined;
    if (value === null || value === "") return [];
    if (!Array.isArray(value)) return problem(column, "must be a list");
    if (value.length > maxItems) return problem(column, `holds more than ${maxItems}`);
    const items = value.map((item: unknown, index) => read(item, `${column}[${index}]`));
    return items.filter((item) => item !== undefined);
  }

  const distinct = (items: readonly string[] | undefined) => items && [...new Set(items)];

  function phone(item: unknown, field: string): string | undefined {
    const canonical =
      typeof item === "string" ? canonicalPhone(item.replace(invisible, ""), rules.defaultCountry) : null;
    return canonical ?? problem(field, "is not a phone number; write it with its country code, such as +254…");
  }

  function email(item: unknown, field: string): string | undefined {
    const canonical = typeof item === "string" ? canonicalEmail(item.replace(invisible, "")) : null;
    return canonical?.identity ?? problem(field, "is not an email address");
  }

  function nationalId(item: unknown, field: string): NationalId | undefined {
    const said = typeof item === "string" ? splitNationalId(item) : item;
    const { type = "", number } = (said ?? {}) as { type?: unknown; number?: unknown };
    if (typeof number !== "string" || typeof type !== "string") return problem(field, "must be type:number");
    const kind = type.normalize("NFC").trim();
    if (!/^[\p{L}\p{M}\p{N} _.-]{0,40}$/u.test(kind))
      return problem(field, "has a type that is more than a word or two");
    const canonical = canonicalNationalId(number.replace(invisible, ""));
    if (canonical === null) return problem(field, "is not an ID number");
    const broken = nationalIdProblem(canonical, rules.nationalId);
    if (broken !== null && rules.nationalId?.onMismatch === "refuse") return problem(field, broken);
    if (broken !== null) warnings.push({ field, reason: broken });
    return { type: kind, number: canonical };
  }

  function flag(column: PersonColumn): boolean | undefined {
    const value = values[column];
    if (value === undefined || value === null || value === "") return undefined;
    if (typeof value === "boolean") return value;
    const known = typeof value === "string" ? flags.get(value.trim().toLowerCase()) : undefined;
    return known ?? problem(column, "must be true or false");
  }

  function birth(): BirthDate | null | undefined {
    const estimated = flag("birth_estimated") ?? false;
    const calendar = text("birth_calendar")?.toLowerCase() ?? "gregorian";
    const said = text("date_of_birth");
    if (said === undefined || said === null) return said;
    if (!isCalendar(calendar)) return problem("birth_calendar", `must be one of ${birthCalendars.join(", ")}`);
    const date = toGregorianBirth(foldDigits(said.replace(invisible, "")), calendar, estimated);
    if (!date) return problem("date_of_birth", `is no ${calendar} date: write YYYY, YYYY-MM or YYYY-MM-DD`);
    const first = Date.UTC(date.year, (date.month ?? 1) - 1, date.day ?? 1);
    return first <= rules.now ? date : problem("date_of_birth", "lies in the future");
  }

  function language(): string | null | undefined {
    const said = text("language");
    if (said === undefined || said === null) return said;
    return canonicalLanguage(said) ?? problem("language", "is not a language tag such as sw or pt-BR");
  }

  function externalId(): string | null | undefined {
    const said = text("external_id");
    return typeof said === "string" ? canonicalExternalId(said) : said;
  }

  const nationalIds = list("national_ids", nationalId);
  const input = {
    externalId: externalId(),
    given: name("given_name"),
    family: name("family_name"),
    full: name("full_name"),
    birth: birth(),
    language: language(),
    phones: distinct(list("phones", phone)),
    emails: distinct(list("emails", email)),
    nationalIds: nationalIds?.filter(({ number }, at) => nationalIds.findIndex((id) => id.number === number) === at),
    disabled: flag("disabled"),
  };
  return { input: withoutUndefined(input), problems, warnings };
}

const flags: ReadonlyMap<string, boolean> = new Map([
  ...["true", "yes", "y", "1"].map((word) => [word, true] as const),
  ...["false", "no", "n", "0"].map((word) => [word, false] as const),
]);

const isCalendar = (text: string): text is BirthCalendar => birthCalendars.some((known) => known === text);

/** `type:number`, or a number alone. */
function splitNationalId(text: string): { type: string; number: string } {
  const at = text.indexOf(":");
  return { type: text.slice(0, Math.max(at, 0)), number: text.slice(at + 1) };
}

/** A tag in its usual spelling, or null where it is none; `pt_BR` is what some systems write. */
export function canonicalLanguage(text: string): string | null {
  const tag = text.replaceAll("_", "-");
  if (!/^[a-z]{2,3}(?:-[a-z0-9]{2,8})*$/i.test(tag)) return null;
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? null;
  } catch {
    return null;
  }
}

function withoutUndefined<T extends object>(value: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>;
  };
}
