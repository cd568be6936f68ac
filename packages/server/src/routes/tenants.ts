import { routes } from "@fieldgate/contract";
import type { FastifyInstance } from "fastify";
import { Fault } from "../fault.ts";
import { registerRoute } from "../http/route.ts";
import { authConfigOf } from "../people/auth-config.ts";
import type { Services } from "../services.ts";

export function registerTenantRoutes(app: FastifyInstance, { tenants }: Services): void {
  registerRoute(app, routes.authConfig, async (context) => {
    const config = authConfigOf(await tenants.find(context.params.tenantId));
    if (!config) throw new Fault("tenant_not_found");
    return config;
  });
}
