export interface ConfigProblem {
  /** The variable that is wrong. */
  readonly variable: string;
  /** What is wrong and what to do; never its value where that is secret. */
  readonly sentence: string;
}

/** The configuration cannot be used. Its message lists every bad variable, not only the first. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ variable, sentence }) => `  ${variable}: ${sentence}`);
    super(`The configuration cannot be used:\n${lines.join("\n")}`);
    this.problems = problems;
  }
}
