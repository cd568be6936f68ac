import type { Component, Route } from "@fieldgate/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import { Fault } from "../fault.ts";
import { renameAliases } from "./aliases.ts";
import type { GateResponse } from "./messages.ts";
import { RouteContext } from "./route-context.ts";

/** What a handler answers: the body of its success, or nothing where there is nothing to say. */
export type AnswerOf<R extends Route> = {
  [Status in keyof R["response"]]: R["response"][Status] extends TSchema ? Static<R["response"][Status]> : undefined;
}[keyof R["response"]];

export type Handler<R extends Route> = (context: RouteContext<R>) => AnswerOf<R> | Promise<AnswerOf<R>>;

export interface RouteOptions {
  /** Where the answer may be kept after all; every other one is `no-store`. */
  readonly cacheControl?: string;
}

/** Serves a route of the contract: its schema checks what comes in and shapes what goes out. */
export function registerRoute<const R extends Route>(
  app: FastifyInstance,
  route: R,
  handler: Handler<R>,
  options: RouteOptions = {},
): void {
  const [status, answer] = successOf(route);
  const meter = app.httpMetrics.requestMeter(route.path, route.method);
  const { cacheControl } = options;

  function handle(request: FastifyRequest, reply: FastifyReply) {
    (reply.raw as GateResponse).meter = meter;
    if (status !== 200) reply.code(status);
    if (cacheControl !== undefined) reply.header("cache-control", cacheControl);
    const result = handler(new RouteContext<R>(request));
    // Fastify takes `undefined` for "the answer comes later", and null for an empty one.
    if (answer === null) return result instanceof Promise ? result.then(() => null) : null;
    return result;
  }

  app.route({
    method: route.method,
    url: route.path,
    config: { meter },
    schema: {
      ...(route.body && { body: { $ref: `${route.body.$id}#` } }),
      ...(answer && { response: { [status]: { $ref: `${answer.$id}#` } } }),
    },
    ...(route.body && { preValidation: bodyPreparation(route) }),
    handler: handle,
  });
}

function successOf(route: Route): [status: number, answer: Component | null] {
  const [success, ...others] = Object.entries(route.response);
  if (success === undefined || others.length > 0) {
    throw new TypeError(`${route.method} ${route.path} must have exactly one success status.`);
  }
  return [Number(success[0]), success[1]];
}

/** Runs between parsing and validation: the validator then sees only canonical names. */
function bodyPreparation(route: Route) {
  return (request: FastifyRequest, _reply: FastifyReply, next: (error?: Error) => void): void => {
    try {
      request.body ??= emptyBody(route);
      if (route.aliases) renameAliases(request.body as Record<string, unknown>, route.aliases);
      next();
    } catch (error) {
      next(error as Error);
    }
  };
}

function emptyBody(route: Route): Record<string, unknown> {
  if (route.bodyOptional) return {};
  throw new Fault("invalid_request", { message: "A JSON body is needed, and none was sent." });
}
