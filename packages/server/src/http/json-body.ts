import type { FastifyInstance } from "fastify";
import { Fault } from "../fault.ts";
import { parseStrictJson } from "./strict-json.ts";

const jsonType = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?;?$/i;

/** JSON in UTF-8 is the only body this service reads; Fastify answers 415 to every other type. */
export function acceptOnlyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    try {
      done(null, readBody(request.headers, body, request.routeOptions.config.lenientList));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** No bytes are no body: whether that is enough is for the route to say. */
function readBody(
  headers: Record<string, string | string[] | undefined>,
  body: Buffer,
  lenientList: string | undefined,
): unknown {
  if (!jsonType.test(String(headers["content-type"]))) throw new Fault("unsupported_media_type");
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new Fault("unsupported_media_type", { message: "Send the body as it is, without a Content-Encoding." });
  }
  return body.length === 0 ? undefined : parseStrictJson(body, lenientList);
}
