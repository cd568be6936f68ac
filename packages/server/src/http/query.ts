import { Fault } from "../fault.ts";
import { fieldName } from "./validation-fault.ts";

/** The values behind the `?` of an address by their names, each at most once. */
export function readQuery<Name extends string>(
  url: string,
  names: Readonly<Record<Name, string>>,
): { readonly [Key in Name]?: string } {
  const at = url.indexOf("?");
  const values: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(at < 0 ? "" : url.slice(at))) {
    const field = fieldName(name);
    if (!Object.hasOwn(names, name)) {
      throw new Fault("invalid_request", {
        field,
        message: `The parameter ${field} is not known here. Check its spelling or leave it out.`,
      });
    }
    if (Object.hasOwn(values, name)) {
      throw new Fault("invalid_request", { field, message: `The parameter ${field} is there twice. Send it once.` });
    }
    values[name] = value;
  }
  return values as { readonly [Key in Name]?: string };
}
