import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import type { JWK } from "jose";
import type { Queries } from "../store/store.ts";
import type { KeyVault } from "../tokens/key-vault.ts";
import type { FindingCollector } from "./finding.ts";
import { exportPublicJwk } from "./signing-key.ts";

/** A public key from outside the database. Without an id it may be that of any journal key. */
export interface GivenKey {
  readonly keyId: string | null;
  /** The public point of the Ed25519 key, as in its JWK. */
  readonly x: string;
}

export type KeyProof =
  /** Its secret half opens under the deployment secret and belongs to its public half. */
  | "secret"
  /** It is one of the public keys that were given. */
  | "given"
  /** Only the database, or the export, says that it is ours. */
  | "unproven";

export interface TrustedKey {
  readonly publicKey: KeyObject;
  readonly proof: KeyProof;
}

/** The keys whose signatures count, by key id. */
export type TrustedKeys = ReadonlyMap<string, TrustedKey>;

const isMatch = (given: readonly GivenKey[], keyId: string, x: string) =>
  given.some((key) => (key.keyId === null || key.keyId === keyId) && key.x === x);
const contradicts = (given: readonly GivenKey[], keyId: string, x: string) =>
  !isMatch(given, keyId, x) && given.some((key) => key.keyId === keyId);

export function toPublicKey(x: string): KeyObject {
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
}

/** The point of a public JWK, if it is an Ed25519 key. */
export function pointOf(jwk: unknown): string | null {
  const { kty, crv, x } = (jwk ?? {}) as JWK;
  return kty === "OKP" && crv === "Ed25519" && typeof x === "string" && /^[\w-]{43}$/.test(x) ? x : null;
}

/**
 * Decides which public keys to believe. Whoever can write to the database can add a key row of their own; but not one
 * whose secret half opens under the deployment secret for its id and purpose.
 */
export async function trustDatabaseKeys(
  q: Queries,
  { vault, given, onlyGiven }: { vault: KeyVault | null; given: readonly GivenKey[]; onlyGiven: boolean },
  findings: FindingCollector,
): Promise<TrustedKeys> {
  const rows = await q.db
    .selectFrom("keys")
    .select(["id", "purpose", "public_jwk", "sealed"])
    .where("purpose", "=", "journal")
    .execute();
  const trusted = new Map<string, TrustedKey>(trustGivenKeys(given));
  for (const row of rows) {
    const x = readPoint(row.public_jwk);
    const problem = x === null ? "has no Ed25519 public half" : (vault && secretProblem(vault, row, x)) || null;
    if (x === null || problem !== null) {
      findings.error("key", null, null, `The journal key ${row.id} ${problem}: its signatures prove nothing.`);
    } else if (contradicts(given, row.id, x)) {
      findings.error("key", null, null, `The journal key ${row.id} is another in the database than the one given.`);
    } else if (onlyGiven && !isMatch(given, row.id, x)) {
      const told = `The journal key ${row.id} is not among the public keys given. Give each that was ever in use.`;
      findings.error("key", null, null, told);
    } else {
      const proof = vault ? "secret" : isMatch(given, row.id, x) ? "given" : "unproven";
      trusted.set(row.id, { publicKey: toPublicKey(x), proof });
    }
  }
  const known = new Set(rows.map((row) => row.id));
  for (const { keyId } of given) {
    if (keyId !== null && !known.has(keyId)) {
      findings.error("key", null, null, `The journal key ${keyId} is not in the database, where it is kept for ever.`);
    }
  }
  return trusted;
}

/** The keys that were given with their ids, for where there is nothing else to ask. */
export function trustGivenKeys(given: readonly GivenKey[]): TrustedKeys {
  return new Map(
    given.flatMap(({ keyId, x }) => (keyId === null ? [] : [[keyId, { publicKey: toPublicKey(x), proof: "given" }]])),
  );
}

/** Whether a key of an export may be believed, and how far. */
export function trustExportedKey(keyId: string, jwk: JWK, given: readonly GivenKey[]): TrustedKey | null {
  const x = pointOf(jwk);
  if (x === null || contradicts(given, keyId, x)) return null;
  return { publicKey: toPublicKey(x), proof: isMatch(given, keyId, x) ? "given" : "unproven" };
}

function readPoint(publicJwk: string | null): string | null {
  try {
    return pointOf(JSON.parse(publicJwk ?? "null"));
  } catch {
    // Not JSON: no key either, and the caller says so.
    return null;
  }
}

function secretProblem(vault: KeyVault, row: { id: string; purpose: string; sealed: string }, x: string) {
  try {
    const secret = Buffer.from(vault.open(row.id, row.purpose, row.sealed));
    const own = exportPublicJwk(createPrivateKey({ key: secret, format: "der", type: "pkcs8" }));
    return own.x === x ? null : "has a public half that is not that of its secret half";
  } catch {
    // Whatever is wrong with the sealed half, it is not one that this deployment wrote.
    return "does not open under the deployment secret";
  }
}
