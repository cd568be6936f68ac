import { routes } from "@fieldgate/contract";
import type { FastifyInstance } from "fastify";
import { Fault } from "../fault.ts";
import { signInWithQr, tenantOfCard } from "../flows/qr.ts";
import { registerRoute } from "../http/route.ts";
import type { Services } from "../services.ts";
import { citizenCaller, helperOf } from "./request-inputs.ts";

export function registerQrRoutes(app: FastifyInstance, services: Services): void {
  registerRoute(app, routes.qrVerify, async (context) => {
    const { tenantId: body, qrPayload, assisted = false } = context.body;
    const caller = await citizenCaller(services, context, body, () => tenantOfCard(services, qrPayload));
    const helper = assisted ? await helperOf(services, context, caller.tenantId) : null;
    if (assisted && helper === null) throw new Fault("forbidden", { detail: "no worker of this tenant assists" });
    return signInWithQr(services, caller, qrPayload, helper);
  });
}
