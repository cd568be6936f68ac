import type { FastifyInstance } from "fastify";
import { Fault } from "../fault.ts";
import { parseStrictJson } from "./strict-json.ts";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const jsonType = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?;?$/i;

/**
 * JSON in UTF-8 is the only body this service reads, and a form where a route takes what others write; Fastify answers
 * 415 to every other type.
 */
export function acceptOnlyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "buffer" },
    (request, body: Buffer, done) => {
      try {
        if (!request.routeOptions.config.foreignBody) throw new Fault("unsupported_media_type");
        demandPlain(request.headers);
        done(null, readForm(body.toString()));
      } catch (error) {
        done(error as Error);
      }
    },
  );
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    try {
      done(null, readBody(request.headers, body, request.routeOptions.config.lenientList));
    } catch (error) {
      done(error as Error);
    }
  });
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

function readForm(text: string): Record<string, string> {
  const fields = [...new URLSearchParams(text)];
  const form = Object.fromEntries(fields);
  if (Object.keys(form).length === fields.length) return form;
  throw new Fault("invalid_request", { message: "The form has a field twice." });
}
