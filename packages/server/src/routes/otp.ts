import { routes } from "@fieldgate/contract";
import type { FastifyInstance } from "fastify";
import { requestOtp } from "../flows/otp-request.ts";
import { verifyOtp } from "../flows/otp-verify.ts";
import { tenantOfSignIn } from "../flows/tenant-of-request.ts";
import { registerRoute } from "../http/route.ts";
import type { Services } from "../services.ts";
import { citizenCaller, tenantHints } from "./request-inputs.ts";

export function registerOtpRoutes(app: FastifyInstance, services: Services): void {
  registerRoute(app, routes.otpRequest, async (context) => {
    const { recipient, tenantId: body } = context.body;
    const tenantId = await tenantOfSignIn(services, tenantHints(context, body));
    return requestOtp(services, { tenantId, recipient, address: context.clientAddress });
  });

  registerRoute(app, routes.otpVerify, async (context) => {
    const { tenantId: body, ...fields } = context.body;
    return verifyOtp(services, await citizenCaller(services, context, body), fields);
  });
}
