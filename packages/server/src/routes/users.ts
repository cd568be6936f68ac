import { routes, type TokenVerdict } from "@fieldgate/contract";
import type { FastifyInstance } from "fastify";
import { Fault } from "../fault.ts";
import { currentUser } from "../flows/current-user.ts";
import { logout } from "../flows/logout.ts";
import { endOwnSession, ownSessions } from "../flows/own-sessions.ts";
import { signInWithPassword } from "../flows/password.ts";
import { demandProofOfRequest, proofOfRequest } from "../flows/proof-of-request.ts";
import { refreshSession } from "../flows/refresh.ts";
import { statedTenant, tenantOfSignIn } from "../flows/tenant-of-request.ts";
import { vaultKeyOf } from "../flows/vault-key.ts";
import { registerRoute } from "../http/route.ts";
import type { Services } from "../services.ts";
import type { TenantHint, VerifiedToken } from "../tokens/token-check.ts";
import { demandToken, proofRequest, tenantHint, tenantHints, verifyBearer } from "./request-inputs.ts";

export function registerUserRoutes(app: FastifyInstance, services: Services): void {
  const { tokenCheck, clock } = services;

  registerRoute(app, routes.login, async (context) => {
    const { username, password, tenantId: body } = context.body;
    const tenantId = await tenantOfSignIn(services, tenantHints(context, body));
    const proof = await proofOfRequest(services, proofRequest(context, routes.login));
    const { clientAddress: address, deviceToken } = context;
    return signInWithPassword(services, { tenantId, username, password, address, deviceToken, proof });
  });

  registerRoute(app, routes.refresh, async (context) => {
    const { refreshToken, tenantId: body } = context.body;
    const tenantId = await statedTenant(services, tenantHints(context, body));
    const proof = () => demandProofOfRequest(services, proofRequest(context, routes.refresh));
    return refreshSession(services, { refreshToken, tenantId, proof });
  });

  registerRoute(app, routes.checkToken, (context) => {
    const token = demandToken(context.bearer);
    const known = tokenCheck.fromMemory(token);
    return known ? verdict(known, clock.now()) : checkSlowly(token, tenantHint(services, context));
  });

  registerRoute(app, routes.checkStoredToken, (context) => {
    const { bearer } = context;
    const { token } = context.body;
    if (bearer !== null && token !== undefined && bearer !== token) {
      throw new Fault("invalid_request", { field: "token", message: "token differs from the Bearer token. Send one." });
    }
    return checkSlowly(demandToken(bearer ?? token ?? null), tenantHint(services, context));
  });

  registerRoute(app, routes.me, async (context) => currentUser(services, await verifyBearer(services, context)));

  registerRoute(app, routes.ownSessions, async (context) =>
    ownSessions(services, await verifyBearer(services, context)),
  );

  registerRoute(app, routes.endOwnSession, async (context) => {
    const verified = await verifyBearer(services, context);
    await endOwnSession(services, verified, context.params.sessionId);
    return undefined;
  });

  registerRoute(app, routes.vaultKey, async (context) => vaultKeyOf(services, await verifyBearer(services, context)));

  registerRoute(app, routes.logout, async (context) => {
    const { refreshToken, refreshTokenHash, tenantId: body } = context.body;
    const tenantId = await statedTenant(services, tenantHints(context, body));
    await logout(services, { bearer: context.bearer, refreshToken, refreshTokenHash, tenantId });
    return undefined;
  });

  async function checkSlowly(token: string, hint: TenantHint): Promise<TokenVerdict> {
    return verdict(await tokenCheck.verify(token, hint), clock.now());
  }
}

function verdict({ claims, provider, username }: VerifiedToken, now: number): TokenVerdict {
  return {
    valid: true,
    provider,
    subject: claims.sub,
    username,
    tenantId: claims.tenantId,
    scope: claims.scope,
    expiresIn: Math.max(0, Math.floor(claims.exp - now / 1000)),
  };
}
