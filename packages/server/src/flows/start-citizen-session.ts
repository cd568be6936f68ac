import { type CitizenSession, scopes } from "@fieldgate/contract";
import type { Services } from "../services.ts";
import { beneficiaryIsActive } from "../store/beneficiaries.ts";
import { rememberDevice } from "../store/devices.ts";
import { insertSession, type SessionRecord, sessionLives } from "../store/sessions.ts";
import type { Queries } from "../store/store.ts";
import { deviceToken } from "../tokens/device-token.ts";
import { opaqueId } from "../tokens/opaque-id.ts";

export interface CitizenSignIn {
  readonly tenantId: string;
  readonly beneficiaryId: string;
  readonly provider: "otp" | "id";
  readonly amr: readonly string[];
  readonly acr: "low" | "substantial";
  readonly lifeSeconds: number;
  readonly deviceId: string | null;
  /** The session of the worker who helps, where one does. */
  readonly parentId?: string;
}

/** Stores the session of a citizen who has proven who they are; null when they, or who helps them, no longer may. */
export async function startCitizenSession(
  { config }: Services,
  tx: Queries,
  signIn: CitizenSignIn,
): Promise<SessionRecord | null> {
  const { tenantId, beneficiaryId, parentId } = signIn;
  if (!(await beneficiaryIsActive(tx, tenantId, beneficiaryId))) return null;
  if (parentId !== undefined && !(await sessionLives(tx, tenantId, parentId))) return null;
  const deviceId = signIn.deviceId ?? opaqueId();
  await rememberDevice(tx, { id: deviceId, tenantId, userId: beneficiaryId }, config.policy.sessions.device);
  return insertSession(tx, {
    id: opaqueId(),
    tenantId,
    userId: beneficiaryId,
    kind: "beneficiary",
    username: `self-service:${beneficiaryId}`,
    provider: signIn.provider,
    amr: signIn.amr,
    acr: signIn.acr,
    scope: scopes.beneficiary,
    entityId: beneficiaryId,
    parentId: parentId ?? null,
    deviceId,
    refreshKeyId: null,
    headHash: null,
    jkt: null,
    idleSeconds: signIn.lifeSeconds,
    absoluteSeconds: signIn.lifeSeconds,
  });
}

/** What every way in for citizens answers. `actor` is the worker who helped. */
export async function citizenAnswer(
  { accessTokens, clock, keyring }: Services,
  session: SessionRecord,
  actor?: string,
): Promise<CitizenSession> {
  const expiresIn = Math.max(1, Math.round((session.absoluteExpiresAt - clock.now()) / 1000));
  return {
    username: session.username,
    token: await accessTokens.issue(
      {
        sub: session.userId,
        sid: session.id,
        tenantId: session.tenantId,
        scope: session.scope,
        amr: [...session.amr],
        acr: session.acr,
        entityId: session.userId,
        ...(actor !== undefined && { act: { sub: actor } }),
      },
      expiresIn,
    ),
    tokenType: "Bearer",
    expiresIn,
    deviceToken: deviceToken(keyring.mac("device").secret, session.deviceId ?? ""),
  };
}
