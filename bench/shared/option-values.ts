import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

export class OptionError extends Error {}

/** A whole number in its bounds. */
export function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new OptionError(`${option} must be a whole number from ${least} to ${most}, not "${text}".`);
}

/** Some of the names, separated by commas. */
export function someOf<Name extends string>(option: string, text: string, names: readonly Name[]): Name[] {
  return text.split(",").map((part) => {
    const name = names.find((known) => known === part.trim());
    if (name === undefined) throw new OptionError(`${option}: "${part}" is none of ${names.join(", ")}.`);
    return name;
  });
}

/** The values of a command line, or a sentence that says what is wrong with it. */
export function readOptions<const Options extends ParseArgsOptionsConfig>(args: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (cause) {
    throw new OptionError(`${cause instanceof Error ? cause.message : cause} Try --help.`, { cause });
  }
}
