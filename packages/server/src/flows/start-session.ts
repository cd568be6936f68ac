import { scopes } from "@fieldgate/contract";
import type { Policy } from "../config/policy.ts";
import { Fault } from "../fault.ts";
import type { Worker } from "../people/workers.ts";
import { credentialStillHolds } from "../people/workers.ts";
import type { Services } from "../services.ts";
import { rememberDevice } from "../store/devices.ts";
import { consumeProof } from "../store/dpop-proofs.ts";
import { insertSession, type SessionRecord } from "../store/sessions.ts";
import type { Queries } from "../store/store.ts";
import type { DpopProof } from "../tokens/dpop-proof.ts";
import { opaqueId } from "../tokens/opaque-id.ts";
import { refreshToken, refreshTokenHash } from "../tokens/refresh-token.ts";

export interface WorkerSignIn {
  readonly worker: Worker;
  readonly provider: string;
  readonly amr: readonly string[];
  readonly acr: string;
  /** Binds the session to the key that the proof shows. */
  readonly proof: DpopProof | null;
  /** The device, where it is known already. */
  readonly deviceId: string | null;
  readonly policy: Policy;
  /** The identity provider's session, where it names one. */
  readonly providerSid?: string | null;
}

/**
 * Stores the session of a worker who has proven who they are. Null when the credential that was checked is no longer
 * current: the worker was disabled, or the password changed, while it was being checked.
 */
export async function startWorkerSession(
  { keyring, nonces }: Services,
  tx: Queries,
  signIn: WorkerSignIn,
): Promise<SessionRecord | null> {
  const { worker, proof, policy } = signIn;
  if (!(await credentialStillHolds(tx, worker))) return null;
  await useProof(tx, proof, nonces.longestLife);

  const deviceId = signIn.deviceId ?? opaqueId();
  await rememberDevice(tx, { id: deviceId, tenantId: worker.tenantId, userId: worker.id }, policy.sessions.device);

  const id = opaqueId();
  const key = keyring.mac("refresh");
  const life = proof ? policy.sessions.bound : policy.sessions.plain;
  return insertSession(tx, {
    id,
    tenantId: worker.tenantId,
    userId: worker.id,
    kind: "field-worker",
    username: worker.username,
    provider: signIn.provider,
    amr: signIn.amr,
    acr: signIn.acr,
    scope: scopes["field-worker"],
    entityId: null,
    parentId: null,
    providerSid: signIn.providerSid ?? null,
    deviceId,
    refreshKeyId: key.id,
    headHash: refreshTokenHash(refreshToken(key.secret, id, 0)),
    jkt: proof?.jkt ?? null,
    idleSeconds: life.idle,
    absoluteSeconds: life.absolute,
  });
}

/** Uses a proof up in the transaction of what it proves; a second use changes nothing. */
export async function useProof(tx: Queries, proof: DpopProof | null, lifeSeconds: number): Promise<void> {
  if (proof && !(await consumeProof(tx, proof.id, lifeSeconds))) {
    throw new Fault("invalid_dpop_proof", { detail: "proof used before" });
  }
}
