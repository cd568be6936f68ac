import { hash } from "node:crypto";
import { Fault } from "../fault.ts";
import type { DpopNonces } from "./dpop-nonce.ts";
import { readProofKey } from "./proof-key.ts";

/** A proof that whoever sent this request holds the private key (RFC 9449). */
export interface DpopProof {
  /** RFC 7638 thumbprint of the key. */
  readonly jkt: string;
  /** Names this proof among all of all keys; it may be used once. */
  readonly id: string;
}

export interface ProofTarget {
  readonly method: string;
  /** The addresses under which this request may have been sent, without query. */
  readonly urls: readonly string[];
}

const longest = 4096;

function invalid(detail: string, cause?: unknown): Fault {
  return new Fault("invalid_dpop_proof", { detail, cause });
}

/**
 * Checks a proof against the request it came with. Whether it was used before is decided by the transaction that uses
 * it. `iat` must be there but is not judged: device clocks are wrong, and the nonce tells the time.
 */
export function verifyDpopProof(header: string, target: ProofTarget, nonces: DpopNonces): DpopProof {
  if (header.length > longest) throw invalid("proof too long");
  const { payload, jkt } = openProof(header);
  if (payload.htm !== target.method) throw invalid("htm is another method");
  if (!isAmong(target.urls, payload.htu)) throw invalid("htu is another address");
  const { jti, nonce, iat } = payload;
  if (typeof iat !== "number") throw invalid("iat missing");
  if (typeof jti !== "string" || jti.length === 0 || jti.length > 256) throw invalid("jti missing or too long");
  if (nonce === undefined) throw new Fault("use_dpop_nonce", { detail: "no nonce" });
  if (typeof nonce !== "string") throw invalid("nonce is no text");
  if (!nonces.isFresh(nonce)) throw new Fault("use_dpop_nonce", { detail: "stale nonce" });
  return { jkt, id: hash("sha256", JSON.stringify([jkt, jti]), "base64url") };
}

interface OpenedProof {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly jkt: string;
}

/** Header, payload and signature of a JWS in its compact form. */
const compact = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;

/** Proves that the key in the header has signed all of it. */
function openProof(proof: string): OpenedProof {
  const [, header, payload, signature] = compact.exec(proof) ?? [];
  if (!header || !payload || !signature) throw invalid("no JWS");
  const { typ, alg, jwk, crit } = parseObject(header);
  if (typ !== "dpop+jwt") throw invalid("typ is not dpop+jwt");
  // There is no extension that we understand (RFC 7515, 4.1.11).
  if (crit !== undefined) throw invalid("crit");
  const key = readProofKey(alg, jwk);
  if (!key) throw invalid("no key of a known algorithm in the header");
  if (!key.verify(`${header}.${payload}`, Buffer.from(signature, "base64url"))) throw invalid("another signature");
  return { payload: parseObject(payload), jkt: key.jkt };
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function parseObject(encoded: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(Buffer.from(encoded, "base64url")));
  } catch (cause) {
    throw invalid("no JSON", cause);
  }
  if (typeof value !== "object" || value === null) throw invalid("no object");
  return value as Readonly<Record<string, unknown>>;
}

/** Whether an address is one of ours, whatever query it has. */
function isAmong(urls: readonly string[], htu: unknown): boolean {
  return typeof htu === "string" && (urls.includes(htu) || urls.includes(withoutQuery(htu)));
}

function withoutQuery(url: string): string {
  return URL.canParse(url) ? `${new URL(url).origin}${new URL(url).pathname}` : url;
}
