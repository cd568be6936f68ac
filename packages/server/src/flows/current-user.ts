import type { CurrentUser } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import { findWorkerById } from "../people/workers.ts";
import type { Services } from "../services.ts";
import type { VerifiedToken } from "../tokens/token-check.ts";

/** Who the token was issued to, as the records say now. */
export async function currentUser(services: Services, verified: VerifiedToken): Promise<CurrentUser> {
  const { claims, provider, username } = verified;
  const common = { userId: claims.sub, tenantId: claims.tenantId, scope: claims.scope, provider };
  if (claims.entityId !== undefined) {
    return { ...common, username, kind: "beneficiary", roles: [], entityId: claims.entityId };
  }
  const worker = await findWorkerById(services.store, claims.tenantId, claims.sub);
  if (!worker || worker.disabledAt !== null) throw new Fault("invalid_token", { detail: "no such worker" });
  return { ...common, username: worker.username, kind: "field-worker", roles: [...worker.roles] };
}
