import type { ErrorCode, Problem } from "@fieldgate/contract";

/** What the client itself can say, beside the codes of the service. */
export type ClientErrorCode =
  /** No answer of the service: offline, time-out, or somebody else answered in its place. Nothing was decided. */
  | "unreachable"
  | "configuration"
  | "not_signed_in"
  /** A logout came between a sign-in and its answer. */
  | "signed_out_meanwhile"
  | "untrusted_origin"
  | "unsupported"
  | "tenant_mismatch"
  | "key_lost"
  /** The person cancelled at the identity provider, or the provider does not let them in. */
  | "access_denied"
  /** The address is of a sign-in that is over, too old, or was begun elsewhere: begin again. */
  | "sign_in_expired"
  /** The identity provider answered something that cannot be accepted. */
  | "provider_error"
  | "popup_blocked";

export interface AuthErrorDetails {
  /** The HTTP status, where the service answered. */
  readonly status?: number | undefined;
  /** Seconds until trying again makes sense. */
  readonly retryAfter?: number | undefined;
  /** The configuration field or the input field that is wrong. */
  readonly field?: string | undefined;
  /** The whole answer of the service, for what a code brings along. */
  readonly problem?: Partial<Problem>;
  readonly cause?: unknown;
}

/**
 * Everything this library rejects with.
 *
 * @example
 * try { await auth.login({ username, password }) }
 * catch (error) { if (error instanceof AuthError && error.code === "too_many_attempts") wait(error.retryAfter) }
 */
export class AuthError extends Error {
  override name = "AuthError";
  readonly code: ErrorCode | ClientErrorCode;
  declare readonly status: number | undefined;
  declare readonly retryAfter: number | undefined;
  declare readonly field: string | undefined;
  declare readonly problem: Partial<Problem> | undefined;

  constructor(code: ErrorCode | ClientErrorCode, message: string, details?: AuthErrorDetails) {
    super(message, details);
    this.code = code;
    Object.assign(this, details);
  }
}

/** The service could not be asked. It says nothing about a session: try again later. */
export class NetworkError extends AuthError {
  override name = "NetworkError";

  constructor(message: string, details?: AuthErrorDetails) {
    super("unreachable", message, details);
  }
}

/** Wrong configuration; `field` names what to change. */
export class ConfigurationError extends AuthError {
  override name = "ConfigurationError";

  constructor(field: string, message: string) {
    super("configuration", `${field}: ${message}`, { field });
  }
}
