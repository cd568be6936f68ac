import type { FastifyInstance } from "fastify";
import { Fault } from "../fault.ts";
import { parseForm } from "./form.ts";
import { parseStrictJson } from "./strict-json.ts";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const formType = "application/x-www-form-urlencoded";
const jsonType = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?;?$/i;

/**
 * JSON in UTF-8 is the only body this service reads, and a form where a route is called by others who send one; Fastify
 * answers 415 to every other type.
 */
export function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(formType, { parseAs: "buffer" }, (request, body: Buffer, done) => {
    try {
      const { foreignBody, bodyType } = request.routeOptions.config;
      if (!foreignBody && bodyType !== "form") throw new Fault("unsupported_media_type");
      demandPlain(request.headers);
      done(null, parseForm(body));
    } catch (error) {
      done(error as Error);
    }
  });
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    try {
      done(null, readBody(request.headers, body, request.routeOptions.config.lenientList));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** A route that reads a form reads nothing else. */
export function demandForm(contentType: string | undefined): void {
  if (contentType?.split(";", 1)[0]?.trim().toLowerCase() === formType) return;
  throw new Fault("unsupported_media_type", { message: `Send a form with the header Content-Type: ${formType}.` });
}

/** No bytes are no body: whether that is enough is for the route to say. */
function readBody(headers: Headers, body: Buffer, lenientList: string | undefined): unknown {
  if (!jsonType.test(String(headers["content-type"]))) throw new Fault("unsupported_media_type");
  demandPlain(headers);
  return body.length === 0 ? undefined : parseStrictJson(body, lenientList);
}

function demandPlain(headers: Headers): void {
  const encoding = headers["content-encoding"];
  if (encoding === undefined || encoding === "identity") return;
  throw new Fault("unsupported_media_type", { message: "Send the body as it is, without a Content-Encoding." });
}
