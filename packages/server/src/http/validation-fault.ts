import { Fault } from "../fault.ts";

/** What Fastify throws when Ajv refuses something. */
export interface ValidationFailure extends Error {
  readonly validation: readonly {
    readonly keyword: string;
    readonly instancePath: string;
    readonly params: Readonly<Record<string, unknown>>;
  }[];
}

/** The first thing that is wrong with a body, as a sentence that names the field and never its value. */
export function validationFault(failure: ValidationFailure): Fault {
  const [first] = failure.validation;
  if (first === undefined) return new Fault("invalid_request", { cause: failure });
  const path = fieldPath(first.instancePath);
  const inside = (key: unknown) => fieldName(path === "" ? String(key) : `${path}.${key}`);
  const { params } = first;
  switch (first.keyword) {
    case "required":
      return refuse(inside(params.missingProperty), "is required.");
    case "additionalProperties":
      return refuse(inside(params.additionalProperty), "is not known here. Check its spelling or leave it out.");
    case "type":
      return refuse(path, `must be ${withArticle(String(params.type))}.`);
    case "minLength":
      return refuse(path, params.limit === 1 ? "must not be empty." : `must have at least ${params.limit} characters.`);
    case "maxLength":
      return refuse(path, `must have at most ${params.limit} characters.`);
    case "enum":
      return refuse(path, `must be one of: ${(params.allowedValues as unknown[]).join(", ")}.`);
    default:
      return refuse(path, "is not in the expected form.");
  }
}

function refuse(field: string, reason: string): Fault {
  return field === ""
    ? new Fault("invalid_request", { message: `The body ${reason}` })
    : new Fault("invalid_request", { field, message: `The field ${field} ${reason}` });
}

function withArticle(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** `/adapters/0/type` as people write it: `adapters[0].type`. */
function fieldPath(pointer: string): string {
  const keys = pointer.split("/").slice(1);
  return fieldName(
    keys.reduce((path, key) => {
      const plain = key.replaceAll("~1", "/").replaceAll("~0", "~");
      if (/^\d+$/.test(plain)) return `${path}[${plain}]`;
      return path === "" ? plain : `${path}.${plain}`;
    }, ""),
  );
}

/** A name comes from the client: it is shown only as far as it is printable and short. */
export function fieldName(name: string): string {
  const printable = name.replace(/\p{C}/gu, "?");
  return printable.length <= 80 ? printable : `${printable.slice(0, 77).toWellFormed()}...`;
}
