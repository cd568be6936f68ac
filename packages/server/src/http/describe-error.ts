const maxCauses = 3;

export interface ErrorDescription {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: ErrorDescription;
}

/** An error as the log shows it. Other properties stay out: a database puts the values of rows into its own. */
export function describeError(error: unknown, causes = maxCauses): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: "Something was thrown that is no error." };
  const code =
    "code" in error && (typeof error.code === "string" || typeof error.code === "number") ? error.code : null;
  return {
    type: error.name,
    message: error.message,
    ...(code !== null && { code: String(code) }),
    ...(error.stack && { stack: error.stack }),
    ...(error.cause !== undefined && causes > 0 && { cause: describeError(error.cause, causes - 1) }),
  };
}
