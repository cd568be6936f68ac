import { Fault } from "../fault.ts";
import type { Services } from "../services.ts";
import { type DpopProof, verifyDpopProof } from "../tokens/dpop-proof.ts";

export interface ProofRequest {
  readonly header: string | null;
  readonly method: string;
  readonly path: string;
  /** The host the client addressed, as far as we believe it. */
  readonly host: string;
}

/** The proof a request carries; null where it carries none. A bad one is refused, never overlooked. */
export async function proofOfRequest(services: Services, request: ProofRequest): Promise<DpopProof | null> {
  if (request.header === null) return null;
  const urls = (await origins(services, request.host)).map((origin) => `${origin}${request.path}`);
  return verifyDpopProof(request.header, { method: request.method, urls }, services.nonces);
}

export async function demandProofOfRequest(services: Services, request: ProofRequest): Promise<DpopProof> {
  const proof = await proofOfRequest(services, request);
  if (!proof) throw new Fault("invalid_dpop_proof", { detail: "no proof" });
  return proof;
}

/**
 * The addresses we answer under. A Host header proves nothing: only the deployment's own address and hosts that a
 * tenant has count, or a proof made for another site could be passed on to us.
 */
async function origins({ config, tenants }: Services, host: string): Promise<string[]> {
  const own = [config.baseUrl];
  const isLoopback = /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(host);
  if (config.mode === "development" && isLoopback) own.push(`http://${host}:${new URL(config.baseUrl).port}`);
  if (await tenants.findIdByHost(host)) own.push(`https://${host}`);
  return own;
}
