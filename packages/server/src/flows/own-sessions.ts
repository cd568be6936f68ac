import type { OwnSession, OwnSessions } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import type { Services } from "../services.ts";
import { endSessions, findSession, listSessions, type SessionRecord } from "../store/sessions.ts";
import type { VerifiedToken } from "../tokens/token-check.ts";

/** Where the person is signed in, as far as this token may know. */
export async function ownSessions({ store }: Services, { claims }: VerifiedToken): Promise<OwnSessions> {
  const living = await listSessions(store, { tenantId: claims.tenantId, userId: claims.sub });
  const seen = living.filter((session) => isWithinReach(session, claims));
  return { sessions: seen.map((session) => toOwnSession(session, claims.sid)) };
}

/** Ends a session of the person who asks: on other devices within seconds, and for good. */
export async function endOwnSession(services: Services, verified: VerifiedToken, sessionId: string): Promise<void> {
  const { claims } = verified;
  const { store, revocations } = services;
  const found = await findSession(store, sessionId);
  if (!found || !isWithinReach(found.session, claims)) throw new Fault("session_not_found");
  const { tenantId, sub: userId } = claims;
  revocations.add(await store.transaction((tx) => endSessions(tx, { tenantId, userId, sessionId }, "ended_by_owner")));
}

/**
 * Their own. A worker who helped sees only what they began. And who has shown no more than knowledge (`acr` low) must not learn of, or end, what was begun with better proof: a
 * relative knows the ID number and the birthday too.
 */
function isWithinReach(session: SessionRecord, { tenantId, sub, sid, acr, act }: VerifiedToken["claims"]): boolean {
  const isOwn = session.tenantId === tenantId && session.userId === sub;
  if (act !== undefined) return isOwn && session.id === sid;
  return isOwn && (acr !== "low" || session.acr === "low");
}

function toOwnSession(session: SessionRecord, current: string): OwnSession {
  const { id, provider, parentId, createdAt, rotatedAt, expiresAt } = session;
  const instant = (ms: number) => new Date(ms).toISOString();
  return {
    id,
    current: id === current,
    provider,
    assisted: parentId !== null,
    createdAt: instant(createdAt),
    usedAt: instant(rotatedAt),
    expiresAt: instant(expiresAt),
  };
}
