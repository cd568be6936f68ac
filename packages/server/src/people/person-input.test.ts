import { describe, expect, test } from "vitest";
import { applyInput } from "./apply-input.ts";
import type { Beneficiary } from "./beneficiary.ts";
import type { PersonValues } from "./person-columns.ts";
import { readPerson } from "./person-input.ts";

const rules = { defaultCountry: "KE", nationalId: undefined, now: Date.UTC(2026, 0, 1) };
const read = (values: PersonValues, more = {}) => readPerson(values, { ...rules, ...more });
const problemsOf = (values: PersonValues, more = {}) =>
  read(values, more).problems.map(({ field, reason }) => `${field} ${reason}`);

describe("a person", () => {
  test("in whatever spelling becomes canonical", () => {
    const { input, problems } = read({
      external_id: "  HH-1 ",
      given_name: " Ame\u0301lie \u00a0 Rose ",
      family_name: "",
      date_of_birth: "١٩٨٤-٠٥-٠٦",
      birth_estimated: "Yes",
      language: "PT_br",
      phones: ["0712 000 001", "\u202a+254712000001\u202c", "٠٧١٢٠٠٠٠٠٢"],
      emails: ["Amelie@EXAMPLE.org"],
      national_ids: ["nid:00-12 34", { type: "passport", number: "ab 1" }, "nid:001234"],
      disabled: "0",
    });
    expect(problems).toEqual([]);
    expect(input).toEqual({
      externalId: "HH-1",
      given: "Amélie Rose",
      family: null,
      birth: { year: 1984, month: 5, day: 6, estimated: true },
      language: "pt-BR",
      phones: ["+254712000001", "+254712000002"],
      emails: ["amelie@example.org"],
      nationalIds: [
        { type: "nid", number: "001234" },
        { type: "passport", number: "AB1" },
      ],
      disabled: false,
    });
  });

  test("has a problem for each field that is wrong, and none of them repeats the value", () => {
    const values = {
      external_id: "x".repeat(201),
      given_name: "Ami\u0007na",
      family_name: 7,
      date_of_birth: "31.12.1990",
      language: "swahili please",
      phones: ["0712 secret", 7],
      emails: ["amina-at-example", "a@b@c"],
      national_ids: ["nid:", "!!!", { type: 5, number: "1" }, `${"t".repeat(41)}:1`],
      disabled: "maybe",
    };
    expect(problemsOf(values)).toEqual([
      "national_ids[0] is not an ID number",
      "national_ids[1] is not an ID number",
      "national_ids[2] must be type:number",
      "national_ids[3] has a type that is more than a word or two",
      "external_id is longer than 200 characters",
      "given_name holds control characters",
      "family_name must be text",
      "date_of_birth is no gregorian date: write YYYY, YYYY-MM or YYYY-MM-DD",
      "language is not a language tag such as sw or pt-BR",
      "phones[0] is not a phone number; write it with its country code, such as +254…",
      "phones[1] is not a phone number; write it with its country code, such as +254…",
      "emails[0] is not an email address",
      "emails[1] is not an email address",
      "disabled must be true or false",
    ]);
    expect(problemsOf({ phones: "0712000001" })).toEqual(["phones must be a list"]);
    expect(problemsOf({ phones: Array.from({ length: 21 }, () => "0712000001") })).toEqual([
      "phones holds more than 20",
    ]);
    expect(problemsOf({ given_name: "\ud800" })).toEqual(["given_name holds half a character"]);
  });

  test("has a name that people can see and read, in every script", () => {
    const unseen = ["A\u202eB", "\u200b", "Ami\u00adna", "\u200dAli", "Ali\u200c", "\u3164", "A\u2066B", "A\u{e0041}B"];
    for (const given_name of unseen)
      expect(problemsOf({ given_name })).toEqual(["given_name holds invisible characters"]);
    expect(problemsOf({ family_name: "---" })).toEqual(["family_name holds no letter"]);
    for (const full_name of ["<b>Ali</b>", "https://example.org"]) {
      expect(problemsOf({ full_name })).toEqual(["full_name holds markup or a link"]);
    }
    const good = [
      "\u0646\u0627\u0632\u200c\u0646\u06cc\u0646",
      "\u0936\u094d\u200d\u0930\u0940",
      "N\u2019Diaye",
      "O'Brien-Smith Jr.",
      "\u9673",
    ];
    for (const given_name of good) expect(problemsOf({ given_name })).toEqual([]);
  });

  test("is not born in the future, nor on a day that is not there", () => {
    expect(problemsOf({ date_of_birth: "2026-01-02" })).toEqual(["date_of_birth lies in the future"]);
    expect(problemsOf({ date_of_birth: "2026" })).toEqual([]);
    expect(problemsOf({ date_of_birth: "2023-02-29" })).toHaveLength(1);
    expect(problemsOf({ date_of_birth: "2000-13-06", birth_calendar: "ethiopic" })).toHaveLength(1);
    expect(problemsOf({ date_of_birth: "2000", birth_calendar: "julian" })).toEqual([
      "birth_calendar must be one of gregorian, ethiopic, umalqura",
    ]);
    expect(read({ date_of_birth: "2000-01-01", birth_calendar: "Ethiopic" }).input.birth).toEqual({
      ...{ year: 2007, month: 9, day: 12, estimated: false },
    });
    expect(read({ date_of_birth: "", birth_calendar: "" }).input.birth).toBeNull();
  });

  test("has ID numbers as the tenant's rules have them: refused, or taken with a warning", () => {
    const broken = { national_ids: ["79927398710"] };
    const luhn = { checksum: "luhn" } as const;
    expect(problemsOf({ national_ids: ["79927398713"] }, { nationalId: { ...luhn, onMismatch: "refuse" } })).toEqual(
      [],
    );
    expect(problemsOf(broken, { nationalId: { ...luhn, onMismatch: "refuse" } })).toEqual([
      "national_ids[0] has a wrong check digit",
    ]);
    expect(read(broken, { nationalId: { ...luhn, onMismatch: "warn" } })).toMatchObject({
      problems: [],
      warnings: [{ field: "national_ids[0]", reason: "has a wrong check digit" }],
      input: { nationalIds: [{ number: "79927398710" }] },
    });
  });
});

describe("what was said is applied to what is known", () => {
  const known: Beneficiary = {
    ...{ id: "p", tenantId: "t", version: 1, disabledAt: null, externalId: "HH-1", language: "sw" },
    names: { given: "Amina", family: "Otieno" },
    birth: { year: 1990, estimated: false },
    ...{ phones: ["+254712000001"], emails: [], nationalIds: [{ type: "nid", number: "1" }] },
  };

  test("what nobody spoke of stays, what is empty goes", () => {
    const { input } = read({ external_id: "HH-1", family_name: "", phones: [] });
    expect(applyInput(known, input)).toMatchObject({
      names: { given: "Amina" },
      birth: { year: 1990 },
      language: "sw",
      phones: [],
      nationalIds: [{ type: "nid", number: "1" }],
    });
    expect(applyInput(known, input)).not.toHaveProperty("names.family");
  });

  test("a name is needed; of a full name the first word is what a household is shown", () => {
    expect(applyInput(null, read({ full_name: "Tigist Haile Mariam" }).input)).toMatchObject({
      names: { given: "Tigist", full: "Tigist Haile Mariam" },
    });
    expect(applyInput(null, read({ family_name: "Otieno" }).input)).toEqual({
      field: "given_name",
      reason: "is missing: give given_name or full_name",
    });
    expect(applyInput(known, read({ given_name: "" }).input)).toHaveProperty("reason");
  });
});
