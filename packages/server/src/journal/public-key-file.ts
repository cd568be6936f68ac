import { createPublicKey } from "node:crypto";
import { type GivenKey, pointOf } from "./key-trust.ts";

/**
 * The Ed25519 keys of a file that a person gave: PEM, a JWK, a JWK set, or a `key` line of a checkpoint file or an
 * export. Null where it holds none.
 */
export function readPublicKeys(text: string): readonly GivenKey[] | null {
  const found = text.includes("-----BEGIN") ? readPem(text) : readJson(text);
  return found.length > 0 && found.every((key) => key !== null) ? found : null;
}

function readPem(text: string): (GivenKey | null)[] {
  try {
    return [toGiven(createPublicKey(text).export({ format: "jwk" }))];
  } catch {
    // Not a key; the caller says which file it was.
    return [null];
  }
}

function readJson(text: string): (GivenKey | null)[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [null];
  }
  const { keys } = (value ?? {}) as { keys?: unknown };
  return (Array.isArray(keys) ? keys : [value]).map(toGiven);
}

function toGiven(value: unknown): GivenKey | null {
  const { publicJwk, keyId, kid } = (value ?? {}) as Record<string, unknown>;
  const x = pointOf(publicJwk ?? value);
  const id = keyId ?? kid;
  return x === null ? null : { keyId: typeof id === "string" ? id : null, x };
}
