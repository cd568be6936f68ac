import { hash } from "node:crypto";
import { calculateJwkThumbprint, compactVerify, EmbeddedJWK, type JWK, errors as joseErrors } from "jose";
import { Fault } from "../fault.ts";
import type { DpopNonces } from "./dpop-nonce.ts";

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

const algorithms = ["ES256", "EdDSA", "Ed25519"];
const longest = 4096;

function invalid(detail: string, cause?: unknown): Fault {
  return new Fault("invalid_dpop_proof", { detail, cause });
}

/**
 * Checks a proof against the request it came with. Whether it was used before is decided by the transaction that uses
 * it. `iat` must be there but is not judged: device clocks are wrong, and the nonce tells the time.
 */
export async function verifyDpopProof(header: string, target: ProofTarget, nonces: DpopNonces): Promise<DpopProof> {
  if (header.length > longest) throw invalid("proof too long");
  const { payload, jwk } = await openProof(header);
  if (payload.htm !== target.method) throw invalid("htm is another method");
  if (typeof payload.htu !== "string" || !target.urls.includes(withoutQuery(payload.htu))) {
    throw invalid("htu is another address");
  }
  const { jti, nonce, iat } = payload;
  if (typeof iat !== "number") throw invalid("iat missing");
  if (typeof jti !== "string" || jti.length === 0 || jti.length > 256) throw invalid("jti missing or too long");
  if (nonce === undefined) throw new Fault("use_dpop_nonce", { detail: "no nonce" });
  if (typeof nonce !== "string") throw invalid("nonce is no text");
  if (!nonces.isFresh(nonce)) throw new Fault("use_dpop_nonce", { detail: "stale nonce" });
  const jkt = await calculateJwkThumbprint(jwk);
  return { jkt, id: hash("sha256", JSON.stringify([jkt, jti]), "base64url") };
}

async function openProof(header: string): Promise<{ payload: Record<string, unknown>; jwk: JWK }> {
  try {
    const { payload, protectedHeader } = await compactVerify(header, EmbeddedJWK, { algorithms });
    if (protectedHeader.typ !== "dpop+jwt") throw invalid("typ is not dpop+jwt");
    if (!protectedHeader.jwk) throw invalid("no key in the header");
    const claims: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload));
    if (claims === null || typeof claims !== "object") throw invalid("the payload is no object");
    return { payload: claims as Record<string, unknown>, jwk: protectedHeader.jwk };
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    // Key and payload come from the sender: jose's errors, WebCrypto's and JSON's refusals of them all mean a bad proof.
    const senders = [joseErrors.JOSEError, DOMException, TypeError, SyntaxError];
    if (senders.some((kind) => cause instanceof kind)) throw invalid((cause as Error).message, cause);
    throw cause;
  }
}

function withoutQuery(url: string): string {
  return URL.canParse(url) ? `${new URL(url).origin}${new URL(url).pathname}` : url;
}
