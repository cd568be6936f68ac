import { isPlainObject } from "./bounds.ts";
import type { ConfigProblem } from "./config-error.ts";
import { didYouMean } from "./suggest.ts";

/** Reads the fields of an object in a configuration and remembers what is wrong with them, never their values. */
export class JsonFields {
  readonly path: string;
  readonly #isObject: boolean;
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #problems: ConfigProblem[];
  readonly #read = new Set<string>();

  constructor(value: unknown, path: string, problems: ConfigProblem[]) {
    this.path = path;
    this.#problems = problems;
    this.#isObject = isPlainObject(value);
    this.#value = isPlainObject(value) ? value : {};
    if (!this.#isObject) problems.push({ variable: path, sentence: "must be an object: {…}." });
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#value, key) && this.#value[key] !== undefined;
  }

  /** What is there, as it is. */
  raw(key: string): unknown {
    this.#read.add(key);
    return this.has(key) ? this.#value[key] : undefined;
  }

  problem(key: string, sentence: string): undefined {
    this.#problems.push({ variable: key === "" ? this.path : `${this.path}.${key}`, sentence });
    return undefined;
  }

  /** A text that is not empty and has no control characters. */
  optionalText(key: string, what: string): string | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (typeof value === "string" && value.trim() !== "" && !/\p{Cc}/u.test(value)) return value;
    return this.problem(key, `must be ${what}.`);
  }

  text(key: string, what: string): string {
    if (this.#isObject && !this.has(key)) this.problem(key, `is missing: ${what}.`);
    return this.optionalText(key, what) ?? "";
  }

  whole(key: string, { min, max, fallback }: { min: number; max: number; fallback: number }): number {
    const value = this.raw(key);
    if (value === undefined) return fallback;
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
    this.problem(key, `must be a whole number from ${min} to ${max}.`);
    return fallback;
  }

  choice<const Choice extends string>(key: string, choices: readonly Choice[], fallback: Choice): Choice {
    const value = this.raw(key);
    if (value === undefined) return fallback;
    const found = choices.find((choice) => choice === value);
    if (found === undefined) this.problem(key, `must be one of ${choices.join(", ")}.`);
    return found ?? fallback;
  }

  object(key: string): JsonFields {
    return new JsonFields(this.raw(key), `${this.path}.${key}`, this.#problems);
  }

  /** An object of texts. */
  texts(key: string): Record<string, string> {
    const value = this.raw(key) ?? {};
    const inner = new JsonFields(value, `${this.path}.${key}`, this.#problems);
    const names = isPlainObject(value) ? Object.keys(value) : [];
    return Object.fromEntries(names.map((name) => [name, inner.optionalText(name, "a text") ?? ""]));
  }

  /** Whatever nobody asked for is a mistake. */
  refuseOthers(): void {
    const known = [...this.#read];
    for (const key of Object.keys(this.#value).filter((name) => !this.#read.has(name))) {
      this.problem(key, `is not known.${didYouMean(key, known)} Known here: ${known.join(", ")}.`);
    }
  }
}
