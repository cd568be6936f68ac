import { hash } from "node:crypto";
import { scopes } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import type { VerifiedToken } from "../tokens/token-check.ts";

/** Who exchanges events, as the verified token says and nobody else. */
export interface SyncCaller {
  readonly tenantId: string;
  readonly userId: string;
  readonly username: string;
  readonly sessionId: string;
  /** The server's own name for the device: the same at every sign-in that shows its device token. */
  readonly deviceId: string;
  /** The one entity that a citizen may read and write; null for a worker. */
  readonly ownEntity: string | null;
  /** The worker who helped the citizen to sign in. */
  readonly helperId: string | null;
}

export function syncCaller({ claims, username, deviceId }: VerifiedToken): SyncCaller {
  const { tenantId, sub: userId, sid: sessionId, scope, entityId, act } = claims;
  const isCitizen = scope === scopes.beneficiary && entityId !== undefined;
  if (!isCitizen && (scope !== scopes["field-worker"] || entityId !== undefined)) throw new Fault("forbidden");
  return {
    tenantId,
    userId,
    username,
    sessionId,
    // Everyone in the tenant sees it: so it is not the id that the device token begins with.
    deviceId: hash("sha256", `${tenantId} ${deviceId ?? sessionId}`, "base64url").slice(0, 22),
    ownEntity: isCitizen ? entityId : null,
    helperId: act?.sub ?? null,
  };
}
