/** What a rejected call may say, besides what the service says itself. */
export type EntityDataErrorCode =
  /** Nobody is signed in, or the session is over. Nothing was touched. */
  | "not_authenticated"
  /** The form is not one; `field` names what is wrong with it. */
  | "invalid_event"
  /** There is no sync manager for what was asked. */
  | "not_configured"
  /** The service did not answer in spite of all tries. What was settled stays settled: sync again later. */
  | "unreachable"
  /** The service refused the whole request; `cause` or the message says why. */
  | "refused"
  /** No encryption here: the page is not a secure context. */
  | "insecure_context"
  /** What is stored cannot be opened: it was changed, or belongs to somebody else. */
  | "unreadable";

export interface EntityDataErrorDetails {
  readonly field?: string;
  /** The HTTP status and the code of the service, where it answered. */
  readonly status?: number;
  readonly problem?: string;
  readonly cause?: unknown;
}

/**
 * Everything this library rejects with, apart from an `AuthError` of the sign-in and the reason of an abort.
 *
 * @example
 * try { await manager.syncWithSyncServer() }
 * catch (error) { if (error instanceof EntityDataError && error.code === "not_authenticated") askToSignIn() }
 */
export class EntityDataError extends Error {
  override name = "EntityDataError";
  readonly code: EntityDataErrorCode;
  readonly field: string | undefined;
  readonly status: number | undefined;
  readonly problem: string | undefined;

  constructor(code: EntityDataErrorCode, message: string, details: EntityDataErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.field = details.field;
    this.status = details.status;
    this.problem = details.problem;
  }
}
