/** A mistake told in one sentence on stderr, without a stack. */
export class CliFailure extends Error {
  override readonly name = "CliFailure";
  /** 1: it failed. 2: it was asked for wrongly. */
  readonly exitCode: 1 | 2;

  constructor(sentence: string, exitCode: 1 | 2 = 1) {
    super(sentence);
    this.exitCode = exitCode;
  }
}
