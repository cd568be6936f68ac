import { CliFailure } from "./cli-failure.ts";

/** The number of an option that takes one. */
export function wholeNumber(option: string, text: string, least: number, most: number): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new CliFailure(`${option} must be a whole number from ${least} to ${most}: got "${text}".`, 2);
}
