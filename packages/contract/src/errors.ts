/**
 * Every error this service can answer: its code, its status and the sentence a person may read.
 * `docs/errors.md` and the OpenAPI document are made from this table, and a test proves that they agree.
 */
export interface ErrorEntry {
  readonly status: number;
  readonly title: string;
  /** The public sentence. It says what to do next and never what is secret. */
  readonly detail: string;
}

export const errors = {
  invalid_request: {
    status: 400,
    title: "Invalid request",
    detail: "The request is not in the expected form.",
  },
  tenant_required: {
    status: 400,
    title: "Tenant required",
    detail: "Say which tenant this is for: send tenantId in the body or the X-Tenant-Id header.",
  },
  tenant_conflict: {
    status: 400,
    title: "Tenants disagree",
    detail: "The body, the X-Tenant-Id header and the host name different tenants. Send one.",
  },
  use_dpop_nonce: {
    status: 400,
    title: "DPoP nonce needed",
    detail: "Make a new DPoP proof with the nonce of this answer's DPoP-Nonce header and send the request again.",
  },
  invalid_dpop_proof: {
    status: 400,
    title: "Invalid DPoP proof",
    detail: "The DPoP proof is missing, malformed, already used, or made with another key.",
  },
  dpop_required: {
    status: 400,
    title: "DPoP required",
    detail: "This tenant accepts only sessions bound to a key. Send a DPoP proof with the sign-in.",
  },
  qr_malformed: {
    status: 400,
    title: "Not a card",
    detail: "This code is not an identity card, or was not read completely. Scan it again.",
  },
  qr_unsupported: {
    status: 400,
    title: "Another kind of code",
    detail: "This code is of another kind than an identity card. Scan another code.",
  },
  token_in_url: {
    status: 400,
    title: "Token in the URL",
    detail: "Tokens never belong in a URL. Send the token in the Authorization header.",
  },
  invalid_credentials: {
    status: 401,
    title: "Invalid credentials",
    detail: "The username or the password is wrong.",
  },
  qr_invalid: {
    status: 401,
    title: "Card not accepted",
    detail: "This card is not accepted: it is not known here, has expired or was revoked.",
  },
  invalid_identity: {
    status: 401,
    title: "Not found",
    detail: "No record has this ID number with this date of birth. Check both and try again.",
  },
  invalid_code: {
    status: 401,
    title: "Invalid code",
    detail: "The code is wrong, has expired or was used before. Check it, or ask for a new one.",
  },
  invalid_token: {
    status: 401,
    title: "Invalid token",
    detail: "The token is missing, expired or not valid. Refresh it or sign in again.",
  },
  invalid_grant: {
    status: 401,
    title: "Invalid refresh token",
    detail: "The refresh token is not valid or has expired. Sign in again.",
  },
  session_revoked: {
    status: 401,
    title: "Session ended",
    detail: "This session was ended. Sign in again.",
  },
  step_up_required: {
    status: 403,
    title: "Second step required",
    detail:
      "A code was sent as a second step. Send both, this answer's challenge and the code, to POST /api/auth/otp/verify.",
  },
  assistance_required: {
    status: 403,
    title: "Assistance required",
    detail: "This needs a second step, and there is no address to send a code to. A field worker can help.",
  },
  not_provisioned: {
    status: 403,
    title: "Not a worker here",
    detail: "You are signed in at the identity provider, but have no access to this programme. Ask its administrator.",
  },
  forbidden: {
    status: 403,
    title: "Not allowed",
    detail: "This needs a right that the token does not have.",
  },
  https_required: {
    status: 403,
    title: "HTTPS required",
    detail: "This service answers over https only.",
  },
  not_found: {
    status: 404,
    title: "Not found",
    detail: "There is nothing at this address.",
  },
  tenant_not_found: {
    status: 404,
    title: "Tenant not found",
    detail: "No tenant has this id.",
  },
  session_not_found: {
    status: 404,
    title: "Session not found",
    detail: "You have no session with this id. Read the list again.",
  },
  method_not_allowed: {
    status: 405,
    title: "Method not allowed",
    detail: "This address does not answer this method. The Allow header lists the ones it does.",
  },
  request_timeout: {
    status: 408,
    title: "Request timed out",
    detail: "The request took too long to arrive. Send it again.",
  },
  refresh_superseded: {
    status: 409,
    title: "Refresh token superseded",
    detail: "A newer refresh token of this session exists. Read it from storage and use that one.",
  },
  selection_required: {
    status: 409,
    title: "Choose a person",
    detail: "Several people share this address. Choose one and send the selectionToken with its entityId.",
  },
  identifier_taken: {
    status: 409,
    title: "ID number taken",
    detail: "Another active person of this tenant has this ID number.",
  },
  payload_too_large: {
    status: 413,
    title: "Request too large",
    detail: "The request body is larger than this endpoint accepts.",
  },
  uri_too_long: {
    status: 414,
    title: "Address too long",
    detail: "The address of the request is longer than this service accepts.",
  },
  unsupported_media_type: {
    status: 415,
    title: "Unsupported media type",
    detail: "Send JSON with the header Content-Type: application/json.",
  },
  rate_limited: {
    status: 429,
    title: "Too many requests",
    detail: "That was asked for too often. Wait for the time in the Retry-After header, then try again.",
  },
  too_many_attempts: {
    status: 429,
    title: "Too many attempts",
    detail: "Too many failed attempts. Wait for the time in the Retry-After header, then try again.",
  },
  headers_too_large: {
    status: 431,
    title: "Headers too large",
    detail: "The headers of the request are larger than this service accepts.",
  },
  internal: {
    status: 500,
    title: "Internal error",
    detail: "Something went wrong on our side. The instance names this request in our logs.",
  },
  busy: {
    status: 503,
    title: "Busy",
    detail: "The service has more work than it can take right now. Try again after the time in Retry-After.",
  },
  provider_unavailable: {
    status: 503,
    title: "Identity provider unavailable",
    detail: "The identity provider does not answer as it should. Try again after the time in Retry-After.",
  },
  unavailable: {
    status: 503,
    title: "Temporarily unavailable",
    detail: "The service cannot answer right now. Nothing was lost; try again after the time in Retry-After.",
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errors;

export const errorCodes = Object.keys(errors) as ErrorCode[];

/** What any route may answer besides its own errors. */
export const commonErrors = [
  "invalid_request",
  "token_in_url",
  "https_required",
  "request_timeout",
  "uri_too_long",
  "headers_too_large",
  "internal",
  "busy",
  "unavailable",
] as const satisfies readonly ErrorCode[];

/** What a route with a JSON body may answer besides. */
export const bodyErrors = ["payload_too_large", "unsupported_media_type"] as const satisfies readonly ErrorCode[];

/** What a route with a Bearer token may answer besides: the token may be an identity provider's. */
export const bearerErrors = ["provider_unavailable"] as const satisfies readonly ErrorCode[];

/** What no route answers yet, only the command line. */
export const commandErrors = ["identifier_taken"] as const satisfies readonly ErrorCode[];

/** What is answered where there is no route: an address that does not exist, or a method it does not know. */
export const addressErrors = ["not_found", "method_not_allowed"] as const satisfies readonly ErrorCode[];
