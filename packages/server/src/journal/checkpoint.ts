import { type KeyObject, sign, verify } from "node:crypto";

/** A signed statement that a tenant's chain had this hash at this place. */
export interface Checkpoint {
  readonly tenantId: string;
  readonly seq: number;
  readonly hash: string;
  /** Milliseconds by the database's clock. */
  readonly at: number;
  /** The journal key that signed it. */
  readonly keyId: string;
  /** A compact JWS (EdDSA, Ed25519) over all of the above, which any JOSE library can check. */
  readonly signature: string;
}

export interface CheckpointFacts {
  readonly tenantId: string;
  readonly seq: number;
  readonly hash: string;
  readonly at: number;
  /** The `seq` of the tenant's checkpoint before this one, 0 for the first: a removed one is missed. */
  readonly previous: number;
}

const type = "fieldgate-checkpoint+jws";

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

export function signCheckpoint(keyId: string, privateKey: KeyObject, facts: CheckpointFacts): Checkpoint {
  const { tenantId, seq, hash, at, previous } = facts;
  const input = `${encode({ alg: "EdDSA", typ: type, kid: keyId })}.${encode({ tenantId, seq, hash, at, previous })}`;
  const signature = sign(null, Buffer.from(input), privateKey).toString("base64url");
  return { tenantId, seq, hash, at, keyId, signature: `${input}.${signature}` };
}

/** What a checkpoint says, once it is proven; or what is wrong with it, in words that follow "the checkpoint". */
export type CheckedCheckpoint = { readonly facts: CheckpointFacts } | { readonly problem: string };

/** Proves the signature, and that the checkpoint says nothing that was not signed. */
export function checkCheckpoint(checkpoint: Checkpoint, publicKey: KeyObject): CheckedCheckpoint {
  const parts = checkpoint.signature.split(".");
  const [header, payload, signature] = parts.map((part) => Buffer.from(part, "base64url"));
  if (parts.length !== 3 || !header || !payload || !signature) return { problem: "has no signature" };
  // Base64url has several spellings of the same bytes; only the one we write is accepted.
  const respelt = [header, payload, signature].map((part) => part.toString("base64url")).join(".");
  const input = Buffer.from(`${parts[0]}.${parts[1]}`);
  if (respelt !== checkpoint.signature || !verify(null, input, publicKey, signature)) {
    return { problem: "has a signature that does not hold" };
  }
  const { alg, typ, kid } = JSON.parse(header.toString()) as Record<string, unknown>;
  if (alg !== "EdDSA" || typ !== type || kid !== checkpoint.keyId) {
    return { problem: "has a signature that was made for something else" };
  }
  const facts = JSON.parse(payload.toString()) as CheckpointFacts;
  const told = ["tenantId", "seq", "hash", "at"] as const;
  const differs = told.find((name) => facts[name] !== checkpoint[name]);
  return differs ? { problem: `says another ${differs} than was signed` } : { facts };
}
