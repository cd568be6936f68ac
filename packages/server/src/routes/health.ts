import { routes } from "@fieldgate/contract";
import type { FastifyInstance } from "fastify";
import { Fault } from "../fault.ts";
import { registerRoute } from "../http/route.ts";

/** `/healthz`: the process answers. `/readyz`: it can do its work, and is not about to go. */
export function registerHealthRoutes(app: FastifyInstance): void {
  registerRoute(app, routes.health, () => ({ status: "ok" as const }));
  registerRoute(app, routes.ready, async () => {
    if (app.gate.phase !== "open") throw new Fault("unavailable", { detail: "The process is shutting down." });
    if (!(await app.httpSettings.isReady())) throw new Fault("unavailable", { detail: "The service is not ready." });
    return { status: "ok" as const };
  });
}
