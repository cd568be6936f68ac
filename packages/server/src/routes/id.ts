import { routes } from "@fieldgate/contract";
import type { FastifyInstance } from "fastify";
import { signInWithNationalId } from "../flows/national-id.ts";
import { registerRoute } from "../http/route.ts";
import type { Services } from "../services.ts";
import { citizenCaller, helperOf } from "./request-inputs.ts";

export function registerIdRoutes(app: FastifyInstance, services: Services): void {
  registerRoute(app, routes.idVerify, async (context) => {
    const { tenantId: body, idNumber, dateOfBirth } = context.body;
    const caller = await citizenCaller(services, context, body);
    const helper = await helperOf(services, context, caller.tenantId);
    return signInWithNationalId(services, caller, { idNumber, dateOfBirth, helper });
  });
}
