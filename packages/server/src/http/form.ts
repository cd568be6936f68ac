import { Fault } from "../fault.ts";
import { fieldName } from "./validation-fault.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Reads a form (`application/x-www-form-urlencoded`): UTF-8, each name once, no NUL. */
export function parseForm(bytes: Uint8Array): Record<string, unknown> {
  const fields = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of new URLSearchParams(decode(bytes))) {
    if (name in fields) {
      const field = fieldName(name);
      throw new Fault("invalid_request", { field, message: `The field ${field} is there twice.` });
    }
    if (`${name}${value}`.includes("\0")) {
      throw new Fault("invalid_request", { message: "The body contains the character NUL." });
    }
    fields[name] = value;
  }
  return fields;
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new Fault("invalid_request", { cause, message: "The body is not valid UTF-8." });
  }
}
