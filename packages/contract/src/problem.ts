import { type Static, Type } from "typebox";
import { SelectionChoice } from "./citizen.ts";
import { type ErrorCode, errorCodes } from "./errors.ts";
import { component, literals, ref } from "./schema.ts";

/** What a person who is not yet signed in needs to take the next step. */
const extra = {
  selection: Type.Optional(Type.Array(ref(SelectionChoice), { description: "Who shares this address." })),
  selectionToken: Type.Optional(Type.String({ description: "Send it with the entityId that was chosen." })),
  birthYearRequired: Type.Optional(Type.Boolean({ description: "Send birthYear with the choice, as a check." })),
  challenge: Type.Optional(Type.String({ description: "Send it with the code of the second step." })),
  destination: Type.Optional(Type.String({ description: "Where that code went, masked." })),
  expiresIn: Type.Optional(Type.Integer({ description: "Seconds for which that is good." })),
};

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
      ...extra,
    },
    { additionalProperties: false },
  ),
);
export type Problem = Static<typeof Problem>;
export type ProblemExtra = Partial<Pick<Problem, keyof typeof extra>>;

/** The URI of an error's kind; it resolves to its row of the error table. */
export function problemType(code: ErrorCode): string {
  return `/docs/errors#${code}`;
}
