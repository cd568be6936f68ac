import { type OidcType, oidcAliases, routes } from "@fieldgate/contract";
import type { FastifyInstance } from "fastify";
import { Fault } from "../fault.ts";
import { backchannelLogout } from "../flows/backchannel-logout.ts";
import { exchangeIdToken } from "../flows/oidc-exchange.ts";
import { proofOfRequest } from "../flows/proof-of-request.ts";
import { tenantOfSignIn } from "../flows/tenant-of-request.ts";
import { registerRoute } from "../http/route.ts";
import type { Services } from "../services.ts";
import { proofRequest, tenantHints } from "./request-inputs.ts";

export function registerOidcRoutes(app: FastifyInstance, services: Services): void {
  registerRoute(app, routes.oidcExchange, async (context) => {
    const { type, idToken, salt, tenantId: body } = context.body;
    const tenantId = await tenantOfSignIn(services, tenantHints(context, body));
    const proof = await proofOfRequest(services, proofRequest(context, routes.oidcExchange));
    if (!proof) throw new Fault("dpop_required", { message: "Send a DPoP proof: these sessions are bound to a key." });
    const { clientAddress: address, deviceToken } = context;
    return exchangeIdToken(services, { tenantId, type: canonical(type), idToken, salt, proof, deviceToken, address });
  });

  registerRoute(app, routes.backchannelLogout, async (context) => {
    await backchannelLogout(services, context.body.logout_token);
    return undefined;
  });
}

function canonical(type: OidcType | keyof typeof oidcAliases): OidcType {
  return type in oidcAliases ? oidcAliases[type as keyof typeof oidcAliases] : (type as OidcType);
}
