import { components } from "@fieldgate/contract";
import { type FastifyError, type FastifyInstance, type FastifyServerFactory, fastify } from "fastify";
import { inSentNames } from "./aliases.ts";
import { answerClientError } from "./client-error.ts";
import { createGate } from "./gate.ts";
import { createGuard } from "./guard.ts";
import type { HttpSettings } from "./http-settings.ts";
import { acceptBodies } from "./json-body.ts";
import { createMessageClasses, type Gate, type GateRequest, type GateResponse } from "./messages.ts";
import { createNodeServer } from "./node-server.ts";
import { sendFault, toFault } from "./problem.ts";
import type { RequestMeter } from "./request-meter.ts";
import { createRouterFallbacks } from "./router-fallbacks.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** What the HTTP layer was told. */
    readonly httpSettings: HttpSettings;
    readonly gate: Gate;
  }
  interface FastifyContextConfig {
    readonly meter?: RequestMeter;
    /** See `Route`. */
    readonly lenientList?: string;
    readonly foreignBody?: boolean;
    readonly bodyType?: "form";
  }
}

/** The HTTP server without its routes: guard, strict bodies, problem answers, headers, log and metrics around them. */
export function createHttpServer(settings: HttpSettings): FastifyInstance {
  const gate = createGate(settings);
  const app: FastifyInstance = fastify({
    // Our own log has a line only where one is needed, and our own code reads forwarded headers.
    logger: false,
    genReqId: (request) => (request as unknown as GateRequest).requestId,
    bodyLimit: settings.limits.bodyLimit,
    return503OnClosing: false,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false } },
    serverFactory: serverFactory(settings, gate),
    clientErrorHandler: (error, socket) => answerClientError(gate, error, socket),
    routerOptions: createRouterFallbacks(() => app),
  });
  app.decorate("httpSettings", settings);
  app.decorate("gate", gate);
  for (const component of components) app.addSchema(component);
  acceptBodies(app);

  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const response = reply.raw as GateResponse;
    response.meter = request.routeOptions.config.meter ?? gate.unmatched;
    // From here on the answer is ours: one function writes every error, whoever found it.
    reply.hijack();
    const { body } = request;
    sendFault(response, inSentNames(toFault(error), body), {
      tokenInBody: typeof body === "object" && body !== null && "token" in body,
    });
  });
  return app;
}

function serverFactory(settings: HttpSettings, gate: Gate): FastifyServerFactory {
  const guard = createGuard(settings);
  return (route) => {
    function listener(request: GateRequest, response: GateResponse): void {
      const fault = guard(request);
      if (fault !== null) {
        sendFault(response, fault);
        return;
      }
      const express = request.method === "GET" ? gate.express.get(request.url as string) : undefined;
      const preflight = gate.cors.preflight(request);
      if (express !== undefined) express(request, response);
      else if (preflight !== null) response.writeHead(204, [...preflight]).end();
      else route(request, response);
    }
    return createNodeServer(settings, createMessageClasses(gate), listener as never);
  };
}
