import { Fault } from "../fault.ts";

type Body = Record<string, unknown>;

/** The names clients really used, for bodies that came with an alias. */
const sentNames = new WeakMap<Body, Map<string, string>>();

/** Gives each alias its canonical name. Both together pass only when they say the same. */
export function renameAliases(body: Body, aliases: Readonly<Record<string, string>>): void {
  for (const alias in aliases) {
    if (!Object.hasOwn(body, alias)) continue;
    const canonical = aliases[alias] as string;
    const value = body[alias];
    if (!Object.hasOwn(body, canonical)) {
      body[canonical] = value;
      remember(body, canonical, alias);
    } else if (body[canonical] !== value) {
      throw new Fault("invalid_request", {
        field: alias,
        message: `The fields ${alias} and ${canonical} mean the same, but differ. Send one of them.`,
      });
    }
    delete body[alias];
  }
}

function remember(body: Body, canonical: string, alias: string): void {
  const names = sentNames.get(body) ?? new Map<string, string>();
  names.set(canonical, alias);
  sentNames.set(body, names);
}

/** A fault about a field, in the words of the client that sent it. */
export function inSentNames(fault: Fault, body: unknown): Fault {
  if (fault.field === undefined || typeof body !== "object" || body === null) return fault;
  const alias = sentNames.get(body as Body)?.get(fault.field);
  if (alias === undefined) return fault;
  const message = fault.message.replace(`The field ${fault.field} `, `The field ${alias} `);
  return new Fault(fault.code, {
    message,
    field: alias,
    cause: fault,
    ...(fault.detail !== undefined && { detail: fault.detail }),
    ...(fault.extra !== undefined && { extra: fault.extra }),
    ...(fault.retryAfter !== undefined && { retryAfter: fault.retryAfter }),
  });
}
