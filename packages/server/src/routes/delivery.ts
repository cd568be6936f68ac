import { routes } from "@fieldgate/contract";
import type { FastifyInstance } from "fastify";
import type { Delivery } from "../delivery/deliver.ts";
import { Fault } from "../fault.ts";
import { registerRoute } from "../http/route.ts";

export function registerDeliveryRoutes(app: FastifyInstance, { receipts }: Delivery): void {
  registerRoute(app, routes.deliveryReceipt, async ({ params, body }) => {
    if (!(await receipts.post(params.channel, params.secret, body))) throw new Fault("not_found");
    return undefined;
  });
}
