import { openApiDocument } from "@fieldgate/contract";
import type { FastifyInstance } from "fastify";
import { publicForAWhile } from "../http/security-headers.ts";

/** The OpenAPI document: it changes only with the release, so it is written once. */
export function registerOpenApiRoute(app: FastifyInstance, version: string): void {
  const { baseUrl, metrics } = app.httpSettings;
  const document = Buffer.from(JSON.stringify(openApiDocument({ baseUrl, version })));
  const meter = metrics.requestMeter("/api/openapi.json", "GET");
  app.get("/api/openapi.json", { config: { meter } }, (_request, reply) => {
    reply.type("application/json; charset=utf-8").header("cache-control", publicForAWhile).send(document);
  });
}
