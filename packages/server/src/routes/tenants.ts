import { routes } from "@fieldgate/contract";
import type { FastifyInstance } from "fastify";
import { Fault } from "../fault.ts";
import { registerRoute } from "../http/route.ts";
import type { Services } from "../services.ts";

export function registerTenantRoutes(app: FastifyInstance, { tenants }: Services): void {
  registerRoute(app, routes.authConfig, async (context) => {
    const tenant = await tenants.find(context.params.tenantId);
    if (!tenant || tenant.disabledAt !== null) throw new Fault("tenant_not_found");
    const { defaultCountry, adapters, nationalId } = tenant.settings;
    const takesIds = adapters.some(({ type }) => type === "id");
    return {
      tenantId: tenant.id,
      name: tenant.name,
      ...(defaultCountry !== undefined && { defaultCountry }),
      ...(takesIds && { birthYearAlone: nationalId?.birthYearAlone ?? true }),
      adapters: [...adapters],
    };
  });
}
