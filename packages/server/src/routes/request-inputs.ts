import { type Route, scopes } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import type { CitizenCaller } from "../flows/otp-verify.ts";
import type { ProofRequest } from "../flows/proof-of-request.ts";
import type { Helper } from "../flows/start-citizen-session.ts";
import { type TenantHints, tenantOfSignIn } from "../flows/tenant-of-request.ts";
import type { RouteContext } from "../http/route-context.ts";
import type { Services } from "../services.ts";
import type { TenantHint, VerifiedToken } from "../tokens/token-check.ts";

/** The places where a request may name its tenant. */
export function tenantHints(context: RouteContext<Route>, body: string | undefined): TenantHints {
  return { body, header: context.tenantHeader ?? undefined, host: context.host };
}

export function demandToken(token: string | null): string {
  if (token === null) throw new Fault("invalid_token", { detail: "no token" });
  return token;
}

/** Whose token the request carries. */
export function verifyBearer(services: Services, context: RouteContext<Route>): Promise<VerifiedToken> {
  return services.tokenCheck.verify(demandToken(context.bearer), tenantHint(services, context));
}

/** Whom to ask about a token that says nothing by itself. */
export function tenantHint(services: Services, context: RouteContext<Route>): TenantHint {
  const { tenants, config } = services;
  return async () => context.tenantHeader ?? (await tenants.findIdByHost(context.host)) ?? config.defaultTenant;
}

/** What a proof of possession that came with the request is held against. */
export function proofRequest(context: RouteContext<Route>, route: Route): ProofRequest {
  return { header: context.dpop, method: route.method, path: route.path, host: context.host };
}

/** Who asks to be signed in as a citizen. `otherwise` may know the tenant of a request that names none. */
export async function citizenCaller(
  services: Services,
  context: RouteContext<Route>,
  body: string | undefined,
  otherwise?: () => Promise<string | null>,
): Promise<CitizenCaller> {
  const tenantId = await tenantOfSignIn(services, tenantHints(context, body), otherwise);
  return { tenantId, address: context.clientAddress, deviceToken: context.deviceToken };
}

/** The signed-in worker of the same tenant who stands by; null where nobody does. A bad token is refused. */
export async function helperOf(
  services: Services,
  context: RouteContext<Route>,
  tenantId: string,
): Promise<Helper | null> {
  if (context.bearer === null) return null;
  const verified = await verifyBearer(services, context);
  const isWorker = verified.claims.scope === scopes["field-worker"];
  const { sub, sid } = verified.claims;
  return isWorker && verified.claims.tenantId === tenantId ? { sub, sid } : null;
}
