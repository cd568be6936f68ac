import { isPlainObject } from "../config/bounds.ts";
import { type Templates, templateProblem } from "../delivery/templates.ts";
import { Fault } from "../fault.ts";
import { countryCodes } from "./countries.ts";
import type { NationalIdSettings } from "./national-id-rules.ts";

export interface QrSettings {
  /** `always`: every sign-in with a card needs a code as well, unless a worker presents it. */
  readonly secondStep?: "never" | "always";
}

export interface DeliverySettings {
  /** Names of the deployment's channels in the order to try them; left out, all in the deployment's order. */
  readonly channels?: readonly string[];
  /** BCP 47: what messages are written in where the person's own language is not known. */
  readonly language?: string;
  readonly templates?: Templates;
}

export interface OtpSettings {
  /** Countries besides the default one to which codes are sent by SMS; `*` for all. */
  readonly countries?: readonly string[];
  /** Ask for the birth year when someone chooses a person of a household. */
  readonly askBirthYear?: boolean;
}
const refuse = (field: string, message: string): Fault => new Fault("invalid_request", { field, message });

export function parseCountry(input: unknown, field = "defaultCountry"): string {
  const country = typeof input === "string" ? input.trim().toUpperCase() : "";
  if (!countryCodes.has(country)) {
    throw refuse(field, `${field} must be the two letters of a country in ISO 3166-1, such as KE.`);
  }
  return country;
}

export function parseOtp(input: unknown): OtpSettings {
  if (!isPlainObject(input)) throw refuse("otp", "otp must be an object.");
  const { countries, askBirthYear, ...others } = input;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw refuse(`otp.${unknown}`, `otp.${unknown} is not known: it has countries, askBirthYear.`);
  if (askBirthYear !== undefined && typeof askBirthYear !== "boolean") {
    throw refuse("otp.askBirthYear", "otp.askBirthYear must be true or false.");
  }
  if (countries !== undefined && !Array.isArray(countries)) {
    throw refuse("otp.countries", 'otp.countries must be a list of countries such as UG, or "*" for all.');
  }
  return {
    ...(askBirthYear !== undefined && { askBirthYear }),
    ...(countries && {
      countries: countries.map((item: unknown) => (item === "*" ? "*" : parseCountry(item, "otp.countries"))),
    }),
  };
}

export function parseDelivery(input: unknown): DeliverySettings {
  if (!isPlainObject(input)) throw refuse("delivery", "delivery must be an object.");
  const { channels, language, templates = {}, ...others } = input;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw refuse(`delivery.${unknown}`, `delivery.${unknown} is not known: it has channels, language, templates.`);
  }
  if (channels !== undefined && !(Array.isArray(channels) && channels.every((name) => typeof name === "string"))) {
    throw refuse("delivery.channels", "delivery.channels must be a list of names of channels.");
  }
  if (language !== undefined && !isLanguage(language)) {
    throw refuse("delivery.language", "delivery.language must be a language tag such as sw or pt-BR.");
  }
  if (!isPlainObject(templates)) throw refuse("delivery.templates", "delivery.templates must be an object.");
  for (const [medium, texts] of Object.entries(templates)) checkTemplates(medium, texts);
  return input as DeliverySettings;
}

function checkTemplates(medium: string, texts: unknown): void {
  const field = `delivery.templates.${medium}`;
  if (medium !== "sms" && medium !== "email") throw refuse(field, `${field} is not known: it has sms and email.`);
  if (!isPlainObject(texts)) throw refuse(field, `${field} must be an object of texts by language.`);
  for (const [language, text] of Object.entries(texts)) {
    if (!isLanguage(language)) throw refuse(`${field}.${language}`, `"${language}" is not a language tag such as sw.`);
    const problem = typeof text === "string" ? templateProblem(text) : "must be a text";
    if (problem !== null) throw refuse(`${field}.${language}`, `${field}.${language} ${problem}.`);
  }
}

function isLanguage(tag: unknown): boolean {
  return typeof tag === "string" && /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/.test(tag);
}

const nationalIdChoices: Readonly<Record<string, readonly string[]>> = {
  secondStep: ["when_needed", "always"],
  checksum: ["verhoeff", "luhn"],
  onMismatch: ["warn", "refuse"],
};

export function parseNationalId(input: unknown): NationalIdSettings {
  if (!isPlainObject(input)) throw refuse("nationalId", "nationalId must be an object.");
  for (const [key, value] of Object.entries(input)) {
    const field = `nationalId.${key}`;
    if (key === "pattern") {
      if (!isPattern(value)) throw refuse(field, `${field} must be a regular expression of at most 200 characters.`);
      continue;
    }
    if (key === "birthYearAlone") {
      if (typeof value !== "boolean") throw refuse(field, `${field} must be true or false.`);
      continue;
    }
    const choices = nationalIdChoices[key];
    if (!choices)
      throw refuse(
        field,
        `${field} is not known: it has pattern, birthYearAlone, ${Object.keys(nationalIdChoices).join(", ")}.`,
      );
    if (!choices.some((choice) => choice === value)) throw refuse(field, `${field} must be ${choices.join(" or ")}.`);
  }
  return input as NationalIdSettings;
}

export function parseQr(input: unknown): QrSettings {
  const { secondStep, ...others } = isPlainObject(input) ? input : { secondStep: input };
  if (Object.keys(others).length > 0 || (secondStep !== "never" && secondStep !== "always")) {
    throw refuse("qr.secondStep", "qr has one setting, secondStep, which is never or always.");
  }
  return { secondStep };
}

function isPattern(value: unknown): boolean {
  if (typeof value !== "string" || value.length > 200) return false;
  try {
    return new RegExp(`^(?:${value})$`, "u") instanceof RegExp;
  } catch {
    // The only question is whether it compiles.
    return false;
  }
}
