import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";
import { renderErrors } from "../docs/errors-page.ts";
import { renderReference } from "../docs/reference-page.ts";
import { pagePolicy, publicForAWhile } from "../http/security-headers.ts";

/** The pages for people: the reference, and the errors that the `type` of each problem leads to. */
export function registerDocsRoutes(app: FastifyInstance, version: string): void {
  const { baseUrl } = app.httpSettings;
  serve(app, "/docs", "text/html", renderReference({ baseUrl, version }));
  serve(app, "/docs/errors", "text/html", renderErrors(version));
  serve(app, "/docs/style.css", "text/css", asset("style.css"));
  serve(app, "/docs/icon.svg", "image/svg+xml", asset("icon.svg"));
}

/** What is served changes only with the release, so it is made once. */
function serve(app: FastifyInstance, path: string, type: string, text: string): void {
  const body = Buffer.from(text);
  const config = { meter: app.httpSettings.metrics.requestMeter(path, "GET") };
  const headers = {
    "content-type": `${type}; charset=utf-8`,
    "content-security-policy": pagePolicy,
    "cache-control": publicForAWhile,
  };
  app.get(path, { config }, (_request, reply) => {
    reply.headers(headers).send(body);
  });
}

function asset(name: string): string {
  return readFileSync(new URL(`../docs/${name}`, import.meta.url), "utf8");
}
