import { readFileSync } from "node:fs";
import { createServer as createPlainServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { components } from "@fieldgate/contract";
import { type FastifyError, type FastifyInstance, type FastifyServerFactory, fastify } from "fastify";
import { inSentNames } from "./aliases.ts";
import { answerClientError } from "./client-error.ts";
import { createCors } from "./cors.ts";
import { createForwarding } from "./forwarding.ts";
import { createGuard } from "./guard.ts";
import type { HttpSettings } from "./http-settings.ts";
import { acceptOnlyJson } from "./json-body.ts";
import { createMessageClasses, type Gate, type GateRequest, type GateResponse } from "./messages.ts";
import type { Metrics } from "./metrics.ts";
import { sendFault, toFault } from "./problem.ts";
import { logRequest } from "./request-log.ts";
import { aborted, type RequestMeter } from "./request-meter.ts";
import { createRouterFallbacks } from "./router-fallbacks.ts";
import { fixedHeaders } from "./security-headers.ts";

declare module "fastify" {
  interface FastifyInstance {
    readonly httpMetrics: Metrics;
    readonly gate: Gate;
    readonly httpSettings: HttpSettings;
  }
  interface FastifyContextConfig {
    readonly meter?: RequestMeter;
  }
}

/** The HTTP server, without routes: guard, strict bodies, problem answers, headers, log and metrics around them. */
export function createHttpServer(settings: HttpSettings): FastifyInstance {
  const gate = createGate(settings);
  const app: FastifyInstance = fastify({
    // Our own log has a line only where one is needed, and our own guard reads forwarded headers.
    logger: false,
    genReqId: (request) => (request as unknown as GateRequest).requestId,
    bodyLimit: settings.limits.bodyLimit,
    return503OnClosing: false,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false } },
    serverFactory: serverFactory(settings, gate),
    routerOptions: createRouterFallbacks(() => app),
  });
  app.decorate("httpMetrics", settings.metrics);
  app.decorate("httpSettings", settings);
  app.decorate("gate", gate);
  for (const component of components) app.addSchema(component);
  acceptOnlyJson(app);

  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const response = reply.raw as GateResponse;
    response.meter = request.routeOptions.config.meter ?? gate.unmatched;
    reply.hijack();
    const { body } = request;
    sendFault(response, inSentNames(toFault(error), body), {
      tokenInBody: typeof body === "object" && body !== null && "token" in body,
    });
  });
  return app;
}

function createGate(settings: HttpSettings): Gate {
  const { logger, metrics } = settings;
  const gate: Gate = {
    forwarding: createForwarding(settings.trustedProxies),
    cors: createCors(settings.corsOrigins),
    fixedHeaders: fixedHeaders(settings),
    dpopNonce: settings.dpopNonce,
    draining: false,
    inFlight: 0,
    unmatched: metrics.requestMeter("unmatched", "any"),
    onDone(response) {
      const seconds = (performance.now() - response.startedAt) / 1000;
      response.meter.observe(response.writableFinished ? response.statusCode : aborted, seconds);
      if (response.fault !== null || seconds >= 1) logRequest(logger, response, seconds);
    },
  };
  metrics.watchInFlight(() => gate.inFlight);
  return gate;
}

function serverFactory(settings: HttpSettings, gate: Gate): FastifyServerFactory {
  const guard = createGuard(settings);
  const { tls, limits } = settings;
  const options = {
    ...createMessageClasses(gate),
    headersTimeout: limits.headersTimeout * 1000,
    requestTimeout: limits.requestTimeout * 1000,
    // How often Node looks for connections that are too slow; its default of 30 s would double every limit.
    connectionsCheckingInterval: 500,
    keepAliveTimeout: 72_000,
    maxHeaderSize: 16 * 1024,
    // The guard says so itself, in our form.
    requireHostHeader: false,
  };
  return (route) => {
    const listener = (request: GateRequest, response: GateResponse) => {
      const fault = guard(request);
      if (fault !== null) return sendFault(response, fault);
      const preflight = gate.cors.preflight(request);
      if (preflight !== null) return void response.writeHead(204, [...preflight]).end();
      route(request, response);
    };
    const server = (
      tls
        ? createTlsServer({ ...options, cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, listener as never)
        : createPlainServer(options, listener as never)
    ) as Server;
    // A peer that neither sends nor reads any more is let go.
    server.timeout = 2 * limits.requestTimeout * 1000;
    // The size of the headers is limited; a limit on their number would drop some without a word.
    server.maxHeadersCount = 0;
    server.on("checkExpectation", listener);
    server.on("clientError", (error, socket) => answerClientError(gate, error, socket));
    return server;
  };
}
