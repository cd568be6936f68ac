import type { Session } from "@fieldgate/contract";
import type { Services } from "../services.ts";
import type { SessionRecord } from "../store/sessions.ts";
import { deviceToken } from "../tokens/device-token.ts";
import { refreshToken } from "../tokens/refresh-token.ts";
import { refreshKeyOf } from "./refresh-key.ts";

/** What a sign-in and a refresh answer: tokens for the session as it stands. */
export async function sessionAnswer(services: Services, session: SessionRecord): Promise<Session> {
  const key = await refreshKeyOf(services, session);
  if (!key) throw new Error(`The session ${session.id} has no refresh token.`);
  const { clock, keyring, accessTokens, tenants } = services;
  const policy = await tenants.policy(session.tenantId);
  const secondsUntil = (instant: number) => Math.max(0, Math.floor((instant - clock.now()) / 1000));
  // An access token does not outlive its session.
  const expiresIn = Math.min(policy.tokens.workerAccess, secondsUntil(session.absoluteExpiresAt));
  return {
    username: session.username,
    userId: session.userId,
    tenantId: session.tenantId,
    token: await accessTokens.issue(
      {
        sub: session.userId,
        sid: session.id,
        tenantId: session.tenantId,
        scope: session.scope,
        amr: [...session.amr],
        acr: session.acr,
        ...(session.entityId !== null && { entityId: session.entityId }),
      },
      expiresIn,
    ),
    tokenType: "Bearer",
    expiresIn,
    refreshToken: refreshToken(key.secret, session.id, session.counter),
    refreshExpiresIn: secondsUntil(session.expiresAt),
    deviceToken: deviceToken(keyring.mac("device").secret, session.deviceId ?? ""),
  };
}
