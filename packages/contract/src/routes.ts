import { CitizenSession, IdVerifyRequest, OtpRequest, OtpSent, OtpVerifyRequest, QrVerifyRequest } from "./citizen.ts";
import { DeliveryReceipt } from "./delivery.ts";
import { bearerErrors, bodyErrors, commonErrors, type ErrorCode } from "./errors.ts";
import { BackchannelLogoutRequest, OidcExchangeRequest } from "./oidc.ts";
import { defineRoute, type Route } from "./route.ts";
import { Health, JsonWebKeySet } from "./service.ts";
import { LoginRequest, LogoutRequest, OwnSessions, RefreshRequest, Session } from "./session.ts";
import { maxPushBytes, SyncPullResponse, SyncPushRequest, SyncPushResponse, VaultKey } from "./sync.ts";
import { AuthConfig } from "./tenant.ts";
import { CheckTokenRequest, TokenVerdict } from "./token.ts";
import { CurrentUser } from "./user.ts";

const tenantHeader = { "X-Tenant-Id": { description: "The tenant, where the body and the host do not name it." } };
const dpopHeader = { DPoP: { description: "A proof of possession (RFC 9449) that binds the session to a key." } };
const deviceHeader = { "X-Device-Token": { description: "The deviceToken of an earlier sign-in." } };

const tenantErrors = ["tenant_required", "tenant_conflict"] as const;
const dpopErrors = ["use_dpop_nonce", "invalid_dpop_proof"] as const;

/** The routes that exist: server, documents and clients read them from here. */
export const routes = {
  login: defineRoute({
    method: "POST",
    path: "/api/users/login",
    summary: "Sign in with username and password",
    tag: "users",
    headers: { ...tenantHeader, ...dpopHeader, ...deviceHeader },
    body: LoginRequest,
    aliases: { email: "username" },
    response: { 200: Session },
    errors: [...tenantErrors, ...dpopErrors, "dpop_required", "invalid_credentials", "too_many_attempts"],
  }),
  refresh: defineRoute({
    method: "POST",
    path: "/api/users/refresh",
    summary: "Exchange a refresh token for new tokens",
    description:
      "The refresh token rotates at every use. A session that was bound to a key at sign-in needs a DPoP proof with that key.",
    tag: "users",
    headers: { ...tenantHeader, ...dpopHeader },
    body: RefreshRequest,
    response: { 200: Session },
    errors: ["tenant_conflict", ...dpopErrors, "invalid_grant", "session_revoked", "refresh_superseded"],
  }),
  checkToken: defineRoute({
    method: "GET",
    path: "/api/users/check-token",
    summary: "Validate the Bearer token",
    tag: "users",
    bearer: "required",
    response: { 200: TokenVerdict },
    errors: ["invalid_token", "session_revoked"],
  }),
  checkStoredToken: defineRoute({
    method: "POST",
    path: "/api/users/check-token",
    summary: "Validate a stored token",
    description: "The token comes as Bearer or in the body; if both are sent they must be equal.",
    tag: "users",
    bearer: "optional",
    body: CheckTokenRequest,
    bodyOptional: true,
    response: { 200: TokenVerdict },
    errors: ["invalid_token", "session_revoked"],
  }),
  me: defineRoute({
    method: "GET",
    path: "/api/users/me",
    summary: "The current user",
    tag: "users",
    bearer: "required",
    response: { 200: CurrentUser },
    errors: ["invalid_token", "session_revoked"],
  }),
  vaultKey: defineRoute({
    method: "GET",
    path: "/api/users/me/vault-key",
    summary: "The user's own key for what a device keeps",
    description:
      "Made at the first call; the same one for the same user ever after. So it is not for a token that a worker's help or knowledge alone (acr low) gave.",
    tag: "users",
    bearer: "required",
    response: { 200: VaultKey },
    errors: ["invalid_token", "session_revoked", "forbidden"],
  }),
  logout: defineRoute({
    method: "POST",
    path: "/api/users/logout",
    summary: "End the session",
    description:
      "Name the session by a Bearer token, its refreshToken, or refreshTokenHash. Ending an ended session is a 204 too.",
    tag: "users",
    bearer: "optional",
    headers: tenantHeader,
    body: LogoutRequest,
    bodyOptional: true,
    response: { 204: null },
    errors: ["tenant_conflict", "invalid_token"],
  }),
  ownSessions: defineRoute({
    method: "GET",
    path: "/api/users/me/sessions",
    summary: "Where the current user is signed in",
    description: "A token of low assurance sees and ends only sessions of low assurance.",
    tag: "users",
    bearer: "required",
    response: { 200: OwnSessions },
    errors: ["invalid_token", "session_revoked"],
  }),
  endOwnSession: defineRoute({
    method: "DELETE",
    path: "/api/users/me/sessions/:sessionId",
    summary: "End one of the current user's sessions",
    description: "Ending an ended session is a 204 too.",
    tag: "users",
    bearer: "required",
    params: { sessionId: "The id of the session, from the list." },
    response: { 204: null },
    errors: ["invalid_token", "session_revoked", "session_not_found"],
  }),
  oidcExchange: defineRoute({
    method: "POST",
    path: "/api/auth/oidc/exchange",
    summary: "Exchange an ID token for a session",
    description:
      "The last step of signing in through the tenant's identity provider. The session is bound to the key of the DPoP proof, which the nonce of the ID token names.",
    tag: "users",
    headers: { ...tenantHeader, ...dpopHeader, ...deviceHeader },
    body: OidcExchangeRequest,
    response: { 200: Session },
    errors: [
      ...tenantErrors,
      ...dpopErrors,
      "dpop_required",
      "invalid_token",
      "not_provisioned",
      "provider_unavailable",
    ],
  }),
  backchannelLogout: defineRoute({
    method: "POST",
    path: "/api/auth/oidc/backchannel-logout",
    summary: "An identity provider ends its session",
    description:
      "OpenID Connect Back-Channel Logout 1.0: ends the sessions that were started from the provider's, and blocks the provider's earlier tokens.",
    tag: "users",
    bodyType: "form",
    body: BackchannelLogoutRequest,
    response: { 200: null },
    errors: ["provider_unavailable"],
  }),
  otpRequest: defineRoute({
    method: "POST",
    path: "/api/auth/otp/request",
    summary: "Send a one-time code",
    description:
      "Answers the same whether or not anyone has the address. Asked again while a code lives, the same code is sent again.",
    tag: "citizens",
    headers: tenantHeader,
    body: OtpRequest,
    aliases: { identifier: "recipient" },
    response: { 200: OtpSent },
    errors: [...tenantErrors, "rate_limited"],
  }),
  otpVerify: defineRoute({
    method: "POST",
    path: "/api/auth/otp/verify",
    summary: "Exchange a code for a token",
    description:
      "Where a household shares the address, a right code answers 409 with the people to choose from; a second call with selectionToken and entityId finishes. With challenge and code it completes the second step of another way in.",
    tag: "citizens",
    headers: { ...tenantHeader, ...deviceHeader },
    body: OtpVerifyRequest,
    aliases: { identifier: "recipient", otp: "code" },
    response: { 200: CitizenSession },
    errors: [...tenantErrors, "invalid_code", "selection_required", "too_many_attempts"],
  }),
  idVerify: defineRoute({
    method: "POST",
    path: "/api/auth/id/verify",
    summary: "Sign in with ID number and date of birth",
    description:
      "Knowledge, not proof: a short token of low assurance, or 403 with the challenge of a second step. With a worker's Bearer token, for a desk where many people come, no limit per network applies; the citizen's token names the worker and ends with their session.",
    tag: "citizens",
    bearer: "optional",
    headers: { ...tenantHeader, ...deviceHeader },
    body: IdVerifyRequest,
    aliases: { nationalId: "idNumber" },
    response: { 200: CitizenSession },
    errors: [
      ...tenantErrors,
      "invalid_token",
      "session_revoked",
      "invalid_identity",
      "step_up_required",
      "assistance_required",
      "too_many_attempts",
      "rate_limited",
    ],
  }),
  qrVerify: defineRoute({
    method: "POST",
    path: "/api/auth/qr/verify",
    summary: "Sign in with a scanned card",
    description:
      "A card of MOSIP's claim 169 from an issuer that the tenant trusts, or the programme's own. With assisted and a worker's Bearer token the worker presents the card, and the citizen's token ends with the worker's session.",
    tag: "citizens",
    bearer: "optional",
    headers: { ...tenantHeader, ...deviceHeader },
    body: QrVerifyRequest,
    aliases: { qrData: "qrPayload" },
    response: { 200: CitizenSession },
    errors: [
      ...tenantErrors,
      "qr_malformed",
      "qr_unsupported",
      "qr_invalid",
      "invalid_token",
      "session_revoked",
      "forbidden",
      "step_up_required",
      "assistance_required",
      "too_many_attempts",
      "rate_limited",
    ],
  }),
  syncPush: defineRoute({
    method: "POST",
    path: "/api/sync/push",
    summary: "Hand over events",
    description:
      "Idempotent by event id, and durable when answered. Each event has its own result: a rejected one does not keep the others out. A citizen's token takes events of the citizen's own entity alone.",
    tag: "sync",
    bearer: "required",
    body: SyncPushRequest,
    bodyLimit: maxPushBytes,
    lenientList: "events",
    response: { 200: SyncPushResponse },
    errors: ["invalid_token", "session_revoked", "forbidden", "rate_limited", "too_many_attempts"],
  }),
  syncPull: defineRoute({
    method: "GET",
    path: "/api/sync/pull",
    summary: "Fetch events",
    description:
      "The tenant's events in one order that never changes; a citizen's token gets those of the citizen's own entity. Go on with the cursor until more is false.",
    tag: "sync",
    bearer: "required",
    query: {
      cursor: "The cursor of the last page; left out or empty, from the beginning.",
      limit: "Most events of the page, 1 to 1000; 500 where it is left out.",
    },
    response: { 200: SyncPullResponse },
    errors: ["invalid_token", "session_revoked", "forbidden", "rate_limited"],
  }),
  deliveryReceipt: defineRoute({
    method: "POST",
    path: "/api/delivery/receipts/:channel/:secret",
    summary: "What became of a message",
    description:
      "Where a gateway posts its receipts, in its own form. Whatever it says of whichever message, the answer is the same; only a wrong channel or secret is 404.",
    tag: "service",
    params: { channel: "The name of the channel.", secret: "The secret of the channel's receipts." },
    body: DeliveryReceipt,
    foreignBody: true,
    response: { 204: null },
    errors: ["not_found"],
  }),
  authConfig: defineRoute({
    method: "GET",
    path: "/api/tenants/:tenantId/auth-config",
    summary: "The ways in that a tenant offers",
    tag: "tenants",
    params: { tenantId: "The tenant." },
    response: { 200: AuthConfig },
    errors: ["tenant_not_found"],
  }),
  jwks: defineRoute({
    method: "GET",
    path: "/.well-known/jwks.json",
    summary: "The public keys of our access tokens",
    tag: "service",
    response: { 200: JsonWebKeySet },
    errors: [],
  }),
  health: defineRoute({
    method: "GET",
    path: "/healthz",
    summary: "The process is alive",
    tag: "service",
    response: { 200: Health },
    errors: [],
  }),
  ready: defineRoute({
    method: "GET",
    path: "/readyz",
    summary: "The service can do its work",
    description: "503 while the database is away or the process is shutting down.",
    tag: "service",
    response: { 200: Health },
    errors: [],
  }),
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;

/** Every code a route may answer. A DELETE needs no body, but one that is sent is read. */
export function errorsOf(route: Route): ErrorCode[] {
  const readsBody = route.body !== undefined || route.method === "DELETE";
  return [
    ...new Set<ErrorCode>([
      ...commonErrors,
      ...(readsBody ? bodyErrors : []),
      ...(route.bearer ? bearerErrors : []),
      ...route.errors,
    ]),
  ];
}
