import type { Component, Route, Static, TSchema } from "@fieldgate/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../fault.ts";
import { renameAliases } from "./aliases.ts";
import { addToExpressLane } from "./express-lane.ts";
import { demandForm } from "./json-body.ts";
import type { GateRequest, GateResponse } from "./messages.ts";
import { RouteContext } from "./route-context.ts";

/** What a handler answers: the body of its success, or nothing where there is nothing to say. */
export type AnswerOf<R extends Route> = {
  [Status in keyof R["response"]]: R["response"][Status] extends TSchema ? Static<R["response"][Status]> : undefined;
}[keyof R["response"]];

/** A handler that has its answer at hand returns it as it is: a promise costs the hot path a turn. */
export type Handler<R extends Route> = (context: RouteContext<R>) => AnswerOf<R> | Promise<AnswerOf<R>>;

export interface RouteOptions {
  /** Where the answer may be kept after all; every other one is `no-store`, and so is every error. */
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
  const { checkAnswers, metrics } = app.httpSettings;
  const meter = metrics.requestMeter(route.path, route.method);
  const headers = options.cacheControl === undefined ? {} : { "cache-control": options.cacheControl };
  const check = checkAnswers && answer ? answerCheck(route, answer) : null;

  // Fastify writes null as JSON, except where the status says that there is no content.
  const nothing = status === 204 ? null : "";

  function handle(request: FastifyRequest, reply: FastifyReply): unknown {
    (reply.raw as GateResponse).meter = meter;
    reply.code(status).headers(headers);
    const result = handler(new RouteContext<R>(request.raw as GateRequest, request.body, request.params));
    // Fastify takes `undefined` for "the answer comes later", and null for an empty one.
    if (answer === null) return result instanceof Promise ? result.then(() => nothing) : nothing;
    return check === null ? result : Promise.resolve(result).then((body) => check(request, body));
  }

  app.route({
    method: route.method,
    url: route.path,
    ...(route.bodyLimit !== undefined && { bodyLimit: route.bodyLimit }),
    config: {
      meter,
      ...(route.bodyType && { bodyType: route.bodyType }),
      ...(route.lenientList !== undefined && { lenientList: route.lenientList }),
      ...(route.foreignBody && { foreignBody: true }),
    },
    schema: {
      ...(route.body && { body: reference(route.body) }),
      ...(answer && { response: { [status]: reference(answer) } }),
    },
    ...(route.body && { preValidation: bodyPreparation(route) }),
    handler: handle,
  });

  const fixed = route.method === "GET" && status === 200 && route.params === undefined;
  if (fixed && answer && check === null) {
    addToExpressLane(app, {
      path: route.path,
      schema: reference(answer),
      meter,
      headers,
      handle: (request) => handler(new RouteContext<R>(request, undefined, noParams)),
    });
  }
}

const noParams = Object.freeze({});

const reference = (schema: Component) => ({ $ref: `${schema.$id}#` });

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
      if (route.bodyType === "form") demandForm(request.headers["content-type"]);
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

function answerCheck(route: Route, answer: Component) {
  const schema = reference(answer);
  return (request: FastifyRequest, body: unknown): unknown => {
    const validate = request.compileValidationSchema(schema);
    if (validate(body)) return body;
    const [first] = validate.errors ?? [];
    throw new TypeError(
      `The answer of ${route.method} ${route.path} is no ${answer.$id}: ${first?.instancePath} ${first?.message}`,
    );
  };
}
