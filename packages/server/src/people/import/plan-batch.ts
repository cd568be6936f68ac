import { findByExternalIds, findHolders } from "../../store/beneficiary-lists.ts";
import type { Queries } from "../../store/store.ts";
import { applyInput } from "../apply-input.ts";
import type { Beneficiary, BeneficiaryFacts } from "../beneficiary.ts";
import { sameFacts } from "../beneficiary-rows.ts";
import type { TenantCipher } from "../data-keys.ts";
import { neighbourIds } from "../neighbour-ids.ts";
import type { FieldProblem, PersonInput } from "../person-columns.ts";
import type { Addition, Change, PeopleChanges } from "../write-people.ts";

/** A row that can be read, on its way into the database. */
export interface ImportRow {
  readonly line: number;
  readonly data: readonly string[];
  readonly input: PersonInput & { readonly externalId: string };
}

export interface RowProblem extends FieldProblem {
  readonly line: number;
  readonly data: readonly string[];
}

/** What a batch of rows means for the database as it was when the plan was made. */
export interface BatchPlan extends PeopleChanges {
  readonly cipher: TenantCipher;
  readonly unchanged: number;
  readonly problems: readonly RowProblem[];
  /** What the plan rests on: who is there, in which version, and who holds which ID number. */
  readonly people: ReadonlyMap<string, Beneficiary>;
  readonly externalIds: readonly string[];
  readonly numbers: readonly string[];
  readonly holders: ReadonlyMap<string, string>;
}

/** Decides what becomes of each row; rows come in order, and each sees what those before it did. */
export async function planBatch(q: Queries, cipher: TenantCipher, rows: readonly ImportRow[]): Promise<BatchPlan> {
  const externalIds = rows.map(({ input }) => input.externalId);
  const people = await findByExternalIds(q, cipher, externalIds);
  const numbers = rows.flatMap(({ input }) => numbersAfter(people.get(input.externalId), input));
  const holders = await findHolders(q, cipher, numbers);

  const newId = neighbourIds();
  const held = new Map(holders);
  const additions: Addition[] = [];
  const changes: Change[] = [];
  const problems: RowProblem[] = [];
  let unchanged = 0;
  for (const { line, data, input } of rows) {
    const before = people.get(input.externalId) ?? null;
    const facts = applyInput(before, input);
    if ("reason" in facts) {
      problems.push({ line, data, ...facts });
      continue;
    }
    const wasActive = before !== null && before.disabledAt === null;
    const active = input.disabled === undefined ? before === null || wasActive : !input.disabled;
    if (before && active === wasActive && sameFacts(before, facts)) {
      unchanged += 1;
      continue;
    }
    const id = before?.id ?? newId();
    const taken = active ? takenBy(held, id, facts) : undefined;
    if (taken !== undefined) {
      problems.push({
        line,
        data,
        field: "national_ids",
        reason: `is the ID number of another active person, ${taken}`,
      });
      continue;
    }
    if (wasActive) for (const { number } of before.nationalIds) if (held.get(number) === id) held.delete(number);
    if (active) for (const { number } of facts.nationalIds) held.set(number, id);
    if (before) changes.push({ before, facts, active });
    else additions.push({ id, facts, active });
  }
  return { cipher, additions, changes, unchanged, problems, people, externalIds, numbers, holders };
}

/** The ID numbers whose holders a row may run into: those it names, or those of a person it may enable. */
function numbersAfter(before: Beneficiary | undefined, input: PersonInput): string[] {
  return (input.nationalIds ?? before?.nationalIds ?? []).map(({ number }) => number);
}

function takenBy(
  held: ReadonlyMap<string, string>,
  own: string,
  { nationalIds }: BeneficiaryFacts,
): string | undefined {
  return nationalIds.map(({ number }) => held.get(number)).find((holder) => holder !== undefined && holder !== own);
}
