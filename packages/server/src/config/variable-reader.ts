import { ConfigError, type ConfigProblem } from "./config-error.ts";
import { didYouMean } from "./suggest.ts";
import { type Variable, variableNames } from "./variables.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads variables and remembers what is wrong with them. */
export class VariableReader {
  readonly #env: Environment;
  readonly #readFile: (path: string) => string;
  readonly #problems: ConfigProblem[] = [];

  constructor(env: Environment, readFile: (path: string) => string) {
    this.#env = env;
    this.#readFile = readFile;
  }

  get(variable: Variable): string | undefined {
    return this.#env[variable]?.trim() || undefined;
  }

  list(variable: Variable): string[] {
    const parts = (this.get(variable) ?? "").split(",").map((part) => part.trim());
    return [...new Set(parts.filter((part) => part !== ""))];
  }

  /** A variable, or the content of the file that its `…_FILE` variable names. */
  getOrFile(variable: "FIELDGATE_SECRET" | "FIELDGATE_SECRET_PREVIOUS"): string | undefined {
    const direct = this.get(variable);
    const file = this.get(`${variable}_FILE`);
    if (file === undefined) return direct;
    if (direct !== undefined) {
      this.problem(`${variable}_FILE`, `is set beside ${variable}. Keep one of them.`);
      return direct;
    }
    try {
      const text = this.#readFile(file).trim();
      if (text !== "") return text;
      this.problem(`${variable}_FILE`, `names ${file}, which is empty.`);
    } catch (error) {
      const reason = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
      this.problem(`${variable}_FILE`, `names ${file}, which cannot be read (${reason}).`);
    }
    return undefined;
  }

  /** A whole number within bounds. */
  whole(variable: Variable, min: number, max: number): number | undefined {
    const text = this.get(variable);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    return this.problem(variable, `must be a whole number from ${min} to ${max}: got "${text}".`);
  }

  problem(variable: string, sentence: string): undefined {
    this.#problems.push({ variable, sentence });
    return undefined;
  }

  /** For a value that is missing, unless the reason is told already. */
  problemUnlessTold(variable: string, sentence: string): void {
    if (!this.#problems.some((problem) => problem.variable.startsWith(variable))) this.problem(variable, sentence);
  }

  refuseUnknown(): void {
    const unknown = Object.keys(this.#env).filter(
      (name) => name.startsWith("FIELDGATE_") && !variableNames.some((known) => known === name),
    );
    for (const name of unknown)
      this.problem(name, `is not known.${didYouMean(name, variableNames)} Correct it or take it away.`);
  }

  throwProblems(): void {
    if (this.#problems.length > 0) throw new ConfigError(this.#problems);
  }
}
