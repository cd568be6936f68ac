import { type CitizenSession, scopes } from "@fieldgate/contract";
import type { Services } from "../services.ts";
import { beneficiaryIsActive } from "../store/beneficiaries.ts";
import { rememberDevice } from "../store/devices.ts";
import { insertSession, type SessionRecord, sessionLives } from "../store/sessions.ts";
import type { Queries } from "../store/store.ts";
import { deviceToken } from "../tokens/device-token.ts";
import { opaqueId } from "../tokens/opaque-id.ts";

/** The worker who helps, and their session: the citizen's ends with it. */
export interface Helper {
  readonly sub: string;
  readonly sid: string;
}

export interface CitizenSignIn {
  readonly tenantId: string;
  readonly beneficiaryId: string;
  readonly provider: "otp" | "id";
  readonly amr: readonly string[];
  readonly acr: "low" | "substantial";
  readonly lifeSeconds: number;
  readonly deviceId: string | null;
  readonly helper: Helper | null;
}

/** Stores the session of a citizen who has proven who they are; null when they, or who helps them, no longer may. */
export async function startCitizenSession(
  { config }: Services,
  tx: Queries,
  signIn: CitizenSignIn,
): Promise<SessionRecord | null> {
  const { tenantId, beneficiaryId, helper } = signIn;
  if (!(await beneficiaryIsActive(tx, tenantId, beneficiaryId))) return null;
  if (helper && !(await sessionLives(tx, tenantId, helper.sid))) return null;
  // The helper's device is not the citizen's: it must not have a budget of its own for guesses about them.
  const deviceId = helper ? null : (signIn.deviceId ?? opaqueId());
  if (deviceId !== null) {
    await rememberDevice(tx, { id: deviceId, tenantId, userId: beneficiaryId }, config.policy.sessions.device);
  }
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
    parentId: helper?.sid ?? null,
    deviceId,
    refreshKeyId: null,
    headHash: null,
    jkt: null,
    idleSeconds: signIn.lifeSeconds,
    absoluteSeconds: signIn.lifeSeconds,
  });
}

/** What every way in for citizens answers. */
export async function citizenAnswer(
  { accessTokens, clock, keyring }: Services,
  session: SessionRecord,
  helper: Helper | null,
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
        ...(helper && { act: { sub: helper.sub } }),
      },
      expiresIn,
    ),
    tokenType: "Bearer",
    expiresIn,
    ...(session.deviceId !== null && { deviceToken: deviceToken(keyring.mac("device").secret, session.deviceId) }),
  };
}
