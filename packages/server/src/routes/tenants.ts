import { routes } from "@fieldgate/contract";
import type { FastifyInstance } from "fastify";
import { Fault } from "../fault.ts";
import { registerRoute } from "../http/route.ts";
import type { Services } from "../services.ts";

export function registerTenantRoutes(app: FastifyInstance, { tenants }: Services): void {
  registerRoute(app, routes.authConfig, async (context) => {
    const tenant = await tenants.find(context.params.tenantId);
    if (!tenant || tenant.disabledAt !== null) throw new Fault("tenant_not_found");
    const { defaultCountry, adapters } = tenant.settings;
    return {
      tenantId: tenant.id,
      name: tenant.name,
      ...(defaultCountry !== undefined && { defaultCountry }),
      adapters: [...adapters],
    };
  });
}
