import { routes } from "@fieldgate/contract";
import type { FastifyInstance } from "fastify";
import { registerRoute } from "../http/route.ts";
import type { Services } from "../services.ts";

export function registerKeyRoutes(app: FastifyInstance, { keyring }: Services): void {
  // Resource servers may keep the keys: the next one is published long before it is used.
  registerRoute(app, routes.jwks, () => keyring.jwks(), { cacheControl: "public, max-age=300" });
}
