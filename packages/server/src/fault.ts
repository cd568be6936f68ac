import { type ErrorCode, errors, type ProblemExtra } from "@fieldgate/contract";

export interface FaultOptions {
  /** For the log alone: never sent to a client. */
  readonly detail?: string;
  readonly cause?: unknown;
  /** The input field that is wrong, where one is. */
  readonly field?: string;
  /** The public sentence, where the table's is too general. It must hold nothing secret. */
  readonly message?: string;
  /** Seconds until trying again makes sense. */
  readonly retryAfter?: number;
  /** What the answer tells besides: how to go on. */
  readonly extra?: ProblemExtra;
}

/** A refusal with a code of the error table: flows throw it, `http/problem` answers it. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly retryAfter: number | undefined;
  /** For the log alone. */
  readonly detail: string | undefined;
  readonly extra: ProblemExtra | undefined;

  constructor(code: ErrorCode, options: FaultOptions = {}) {
    super(options.message ?? errors[code].detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.field = options.field;
    this.retryAfter = options.retryAfter;
    this.detail = options.detail;
    this.extra = options.extra;
  }
}
