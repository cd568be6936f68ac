import type { CurrentUser } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import { findWorkerById } from "../people/workers.ts";
import type { Services } from "../services.ts";
import type { VerifiedToken } from "../tokens/token-check.ts";

/** Who the token was issued to, as the records say now. */
export async function currentUser({ store }: Services, verified: VerifiedToken): Promise<CurrentUser> {
  const { claims, provider } = verified;
  const worker = await findWorkerById(store, claims.tenantId, claims.sub);
  if (!worker || worker.disabledAt !== null) throw new Fault("invalid_token", { detail: "no such worker" });
  return {
    userId: worker.id,
    username: worker.username,
    tenantId: worker.tenantId,
    kind: "field-worker",
    roles: [...worker.roles],
    scope: claims.scope,
    provider,
  };
}
