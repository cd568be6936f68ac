import type { IncomingMessage } from "node:http";
import { Fault } from "../fault.ts";

/** The headers that mean something to us and must not be there twice. */
export interface SingleHeaders {
  host?: string;
  authorization?: string;
  origin?: string;
  dpop?: string;
  "content-type"?: string;
  "x-tenant-id"?: string;
  "x-device-token"?: string;
}

const names = ["host", "authorization", "origin", "dpop", "content-type", "x-tenant-id", "x-device-token"] as const;
/** In lower case and as most clients write them; another spelling costs one more look. */
const known = new Map<string, keyof SingleHeaders>(
  names.flatMap((name) => [
    [name, name],
    [name.replace(/(?<![a-z])[a-z]/g, (first) => first.toUpperCase()), name],
  ]),
);
/** One bit for each length a name has: most other headers are passed over by their length alone. */
const lengths = names.reduce((bits, { length }) => bits | (1 << length), 0);

/**
 * Fills in those headers, and says which one is there twice: Node would keep the first and tell nobody. This looks at
 * the headers as they came, because Node makes its own list of them only when somebody asks, and the check of a token
 * need not.
 */
export function readSingleHeaders({ rawHeaders }: IncomingMessage, found: SingleHeaders): Fault | null {
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] as string;
    if (sent.length > 31 || ((lengths >> sent.length) & 1) === 0) continue;
    const name = known.get(sent) ?? known.get(sent.toLowerCase());
    if (name === undefined) continue;
    if (found[name] !== undefined) {
      return new Fault("invalid_request", { field: name, message: `The header ${name} is there twice. Send it once.` });
    }
    found[name] = rawHeaders[index + 1] as string;
  }
  return null;
}
