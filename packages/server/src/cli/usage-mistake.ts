const unknownOption = /^error: unknown option '(.*)'(\n\(Did you mean [^\n]*\))?\n$/s;
const tooMany = /^error: too many arguments.*?\. Expected \d+ arguments? but got \d+(?=:)/s;

/**
 * What the parser says of a wrong command line, without the values in it: a password that was given in the wrong place
 * must not reach a log as well.
 */
export function usageMistake(text: string, takesPassword: boolean): string {
  const hint = "\nA password is no argument: it is asked for on the terminal, or piped in with --password-stdin.";
  const [surplus] = tooMany.exec(text) ?? [];
  if (surplus !== undefined) return `${surplus}.${takesPassword ? hint : ""}\n`;
  const [, option, suggestion = ""] = unknownOption.exec(text) ?? [];
  if (option === undefined) return text;
  const flag = option.startsWith("--") ? option.replace(/=.*$/s, "") : option.slice(0, 2);
  return `error: unknown option '${flag}'${takesPassword && /^--?p/.test(flag) ? hint : suggestion}\n`;
}
