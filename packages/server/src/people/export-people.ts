import { pageOfBeneficiaries } from "../store/beneficiary-lists.ts";
import type { Queries } from "../store/store.ts";
import type { Beneficiary } from "./beneficiary.ts";
import { formatBirthDate } from "./birth-date.ts";
import type { TenantCipher } from "./data-keys.ts";
import { csvLine, guardCell } from "./import/formula-guard.ts";
import { type PersonColumn, personColumns } from "./person-columns.ts";

const pageSize = 500;

export interface ExportOptions {
  readonly format: "csv" | "ndjson";
  readonly state?: "active" | "disabled" | undefined;
  /** Cells of a CSV file as they are, without a guard against formulas. */
  readonly raw: boolean;
}

const columns = Object.keys(personColumns) as PersonColumn[];

/** All people of a tenant as a text that can be imported again, a page at a time. */
export async function* exportPeople(
  q: Queries,
  cipher: TenantCipher,
  { format, state, raw }: ExportOptions,
): AsyncGenerator<{ readonly text: string; readonly people: number }> {
  if (format === "csv") yield { text: csvLine(["id", ...columns]), people: 0 };
  const guard = raw ? (cell: string) => cell : guardCell;
  for (let after: string | null = null; ; ) {
    const page = await pageOfBeneficiaries(q, cipher, { after, limit: pageSize, state });
    const lines = page.map((person) =>
      format === "csv" ? csvLine(cellsOf(person).map(guard)) : `${JSON.stringify(objectOf(person))}\n`,
    );
    if (page.length > 0) yield { text: lines.join(""), people: page.length };
    if (page.length < pageSize) return;
    after = page.at(-1)?.id ?? null;
  }
}

/** What is not there is left out, so that an import of it elsewhere takes nothing away. */
function objectOf(person: Beneficiary): object {
  const { id, externalId, names, birth, language, phones, emails, nationalIds, disabledAt } = person;
  return {
    id,
    ...(externalId !== null && { external_id: externalId }),
    given_name: names.given,
    ...(names.family !== undefined && { family_name: names.family }),
    ...(names.full !== undefined && { full_name: names.full }),
    ...(birth && { date_of_birth: formatBirthDate(birth), birth_estimated: birth.estimated }),
    ...(language !== null && { language }),
    phones,
    emails,
    national_ids: nationalIds,
    disabled: disabledAt !== null,
  };
}

function cellsOf(person: Beneficiary): string[] {
  const { id, externalId, names, birth, language, phones, emails, nationalIds, disabledAt } = person;
  const cells: Readonly<Record<PersonColumn, string>> = {
    external_id: externalId ?? "",
    given_name: names.given,
    family_name: names.family ?? "",
    full_name: names.full ?? "",
    date_of_birth: birth ? formatBirthDate(birth) : "",
    birth_calendar: birth ? "gregorian" : "",
    birth_estimated: birth ? String(birth.estimated) : "",
    language: language ?? "",
    phones: phones.join("|"),
    emails: emails.join("|"),
    national_ids: nationalIds.map(({ type, number }) => (type === "" ? number : `${type}:${number}`)).join("|"),
    disabled: String(disabledAt !== null),
  };
  return [id, ...columns.map((column) => cells[column])];
}
