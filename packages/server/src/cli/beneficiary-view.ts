import type { Beneficiary } from "../people/beneficiary.ts";
import { type BirthDate, formatBirthDate, precisionOf } from "../people/birth-date.ts";
import { maskedAddress } from "../people/masked-address.ts";
import { isoTime } from "./table.ts";

/** Only what tells one person from another to those who know them already. */
function masked(person: Beneficiary): Beneficiary {
  const { names, nationalIds } = person;
  return {
    ...person,
    names: {
      given: maskedWord(names.given),
      ...(names.family !== undefined && { family: maskedWord(names.family) }),
      ...(names.full !== undefined && { full: maskedWord(names.full) }),
    },
    phones: person.phones.map(maskedAddress),
    emails: person.emails.map(maskedAddress),
    nationalIds: nationalIds.map(({ type, number }) => ({ type, number: maskedNumber(number) })),
  };
}

/** The end of a number that is long enough to keep the rest secret. */
const maskedNumber = (number: string) => `•••${number.length < 6 ? "" : number.slice(-2)}`;

const maskedWord = (word: string) => `${[...word][0] ?? ""}•••`;

function birthAsJson(birth: BirthDate | null, reveal: boolean): object | null {
  if (birth === null) return null;
  const date = formatBirthDate(birth);
  return {
    date: reveal ? date : date.replace(/\d/g, "•"),
    precision: precisionOf(birth),
    estimated: birth.estimated,
  };
}

/** A person as commands tell of one: masked, unless someone asked to see it all. */
export function personAsJson(person: Beneficiary, reveal: boolean) {
  const { id, tenantId, externalId, names, language, phones, emails, nationalIds, version, disabledAt } = reveal
    ? person
    : masked(person);
  return {
    id,
    tenantId,
    externalId,
    names,
    birth: birthAsJson(person.birth, reveal),
    language,
    phones,
    emails,
    nationalIds,
    version,
    disabled: disabledAt !== null,
    disabledAt: isoTime(disabledAt),
  };
}

export function describePerson(person: Beneficiary, reveal: boolean): string {
  const { names, phones, emails, nationalIds, language, disabledAt, birth } = reveal ? person : masked(person);
  const date = birth && (reveal ? formatBirthDate(birth) : formatBirthDate(birth).replace(/\d/g, "•"));
  const lines = [
    ["Person", person.id],
    ["External id", person.externalId ?? "-"],
    ["Given name", names.given],
    ["Family name", names.family ?? "-"],
    ...(names.full === undefined ? [] : [["Full name", names.full]]),
    ["Born", date === null ? "-" : `${date}${birth?.estimated ? " (estimated)" : ""}`],
    ["Language", language ?? "-"],
    ["Phones", phones.join(", ") || "-"],
    ["Emails", emails.join(", ") || "-"],
    [
      "ID numbers",
      nationalIds.map(({ type, number }) => (type === "" ? number : `${type} ${number}`)).join(", ") || "-",
    ],
    ["State", disabledAt === null ? "active" : `disabled since ${isoTime(disabledAt)}`],
  ];
  return lines
    .map(([title = "", value = ""]) => `${title.padEnd(12)} ${value.replace(/\p{Cc}/gu, "\uFFFD")}`)
    .join("\n");
}
