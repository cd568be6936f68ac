import { type Static, Type } from "typebox";
import { type ErrorCode, errorCodes } from "./errors.ts";
import { component, literals } from "./schema.ts";

/** RFC 9457, plus `error` and `message` so that one body serves simple clients. */
export const Problem = component(
  "Problem",
  Type.Object(
    {
      type: Type.String({ description: "A URI that names the kind of error." }),
      title: Type.String(),
      status: Type.Integer(),
      detail: Type.String({ description: "A sentence for a person." }),
      code: literals(errorCodes, "Stable: switch on this."),
      error: literals(errorCodes, "The same as code."),
      message: Type.String({ description: "The same as detail." }),
      instance: Type.String({ description: "Names this request; the log has the same id." }),
      field: Type.Optional(Type.String({ description: "The input field that is wrong." })),
    },
    { additionalProperties: false },
  ),
);
export type Problem = Static<typeof Problem>;

/** The URI of an error's kind; it resolves to its row of the error table. */
export function problemType(code: ErrorCode): string {
  return `/docs/errors#${code}`;
}
