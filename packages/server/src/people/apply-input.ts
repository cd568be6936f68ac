import type { BeneficiaryFacts, Names } from "./beneficiary.ts";
import type { FieldProblem, PersonInput } from "./person-columns.ts";

const nobody: BeneficiaryFacts = {
  externalId: null,
  names: { given: "" },
  birth: null,
  language: null,
  phones: [],
  emails: [],
  nationalIds: [],
};

/** The facts of a person after what was said; what nobody spoke of stays as it was. */
export function applyInput(before: BeneficiaryFacts | null, input: PersonInput): BeneficiaryFacts | FieldProblem {
  const known = before ?? nobody;
  const names = namesAfter(known.names, input);
  if (!names) return { field: "given_name", reason: "is missing: give given_name or full_name" };
  return {
    externalId: input.externalId === undefined ? known.externalId : input.externalId,
    names,
    birth: input.birth === undefined ? known.birth : input.birth,
    language: input.language === undefined ? known.language : input.language,
    phones: input.phones ?? known.phones,
    emails: input.emails ?? known.emails,
    nationalIds: input.nationalIds ?? known.nationalIds,
  };
}

/** A household is shown given names. Where there is only a full name, its first word is taken for one. */
function namesAfter(known: Names, input: PersonInput): Names | null {
  const family = input.family === undefined ? known.family : input.family;
  const full = input.full === undefined ? known.full : input.full;
  const given = (input.given === undefined ? known.given : input.given) || full?.split(" ", 1)[0];
  if (!given) return null;
  return { given, ...(family && { family }), ...(full && { full }) };
}
