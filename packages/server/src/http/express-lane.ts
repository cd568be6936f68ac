import type { FastifyInstance } from "fastify";
import { type ExpressHandler, type GateRequest, withDefaults } from "./messages.ts";
import { sendFault, toFault } from "./problem.ts";
import type { RequestMeter } from "./request-meter.ts";

export interface ExpressRoute {
  readonly path: string;
  readonly schema: object;
  readonly meter: RequestMeter;
  readonly headers: Readonly<Record<string, string>>;
  handle(request: GateRequest): unknown;
}

/**
 * A GET with a fixed path has nothing to route and nothing to parse, so it skips the machinery for both: every call in
 * a deployment checks a token, and pays for each step. The answer is the one Fastify would give; with a query, or as
 * HEAD, the same route goes through Fastify.
 */
export function addToExpressLane(app: FastifyInstance, route: ExpressRoute): void {
  // Fastify has its serialisers when it knows all routes.
  app.addHook("onReady", (done) => {
    const { path: url, schema } = route;
    const { express, fixedHeaders } = app.gate;
    const serialise = app.serializerCompiler?.({ schema, method: "GET", url, httpStatus: "200" });
    const headers = withDefaults(fixedHeaders, { ...route.headers, "content-type": "application/json; charset=utf-8" });
    if (serialise) express.set(url, createHandler(route, headers, serialise));
    done();
  });
}

function createHandler(
  route: ExpressRoute,
  headers: readonly string[],
  serialise: (body: unknown) => string,
): ExpressHandler {
  return (request, response) => {
    response.meter = route.meter;
    try {
      const result = route.handle(request);
      if (result instanceof Promise) {
        result
          .then((body) => response.sendJson(headers, serialise(body)))
          .catch((error) => sendFault(response, toFault(error)));
      } else {
        response.sendJson(headers, serialise(result));
      }
    } catch (error) {
      sendFault(response, toFault(error));
    }
  };
}
