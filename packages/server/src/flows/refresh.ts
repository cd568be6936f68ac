import type { Session } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import { recordEvent } from "../journal/record.ts";
import type { Services } from "../services.ts";
import { endSessions, findSession, rotateSession, type SessionAtTime, type SessionRecord } from "../store/sessions.ts";
import type { Queries } from "../store/store.ts";
import type { DpopProof } from "../tokens/dpop-proof.ts";
import type { MacKey } from "../tokens/keyring.ts";
import { isGenuine, parseRefreshToken, refreshToken, refreshTokenHash } from "../tokens/refresh-token.ts";
import { decideRefresh } from "./refresh-decision.ts";
import { refreshKeyOf } from "./refresh-key.ts";
import { sessionAnswer } from "./session-answer.ts";
import { useProof } from "./start-session.ts";

export interface RefreshRequest {
  readonly refreshToken: string;
  /** The tenant the request names, if it names one. */
  readonly tenantId: string | null;
  /** Proves the key of a bound session; asked for only when there is one. */
  readonly proof: () => Promise<DpopProof>;
}

/** Gives new tokens for a refresh token. See `refresh-decision` for what an old one means. */
export async function refreshSession(services: Services, request: RefreshRequest): Promise<Session> {
  const { session, key, presented } = await findFamily(services, request);
  const proof = session.jkt === null ? null : await demandProof(session.jkt, request);
  const outcome = await services.store.transaction((tx) => moveOn(services, tx, { session, key, presented, proof }));
  if (!(outcome instanceof Fault)) return sessionAnswer(services, outcome);
  if (outcome.code === "session_revoked") services.revocations.add([session.id]);
  throw outcome;
}

interface Family {
  readonly session: SessionRecord;
  readonly key: MacKey;
  readonly presented: number;
}

/** The session of a genuine token of the named tenant; everything else is the same `invalid_grant`. */
async function findFamily(services: Services, request: RefreshRequest): Promise<Family> {
  const parts = parseRefreshToken(request.refreshToken);
  const found = parts && (await findSession(services.store, parts.family));
  if (!found) throw new Fault("invalid_grant", { detail: "no such family" });
  const { session } = found;
  const key = await refreshKeyOf(services, session);
  if (!key || !isGenuine(key.secret, parts)) throw new Fault("invalid_grant", { detail: "forged" });
  if (request.tenantId !== null && request.tenantId !== session.tenantId) {
    throw new Fault("invalid_grant", { detail: "another tenant's" });
  }
  return { session, key, presented: parts.counter };
}

async function demandProof(jkt: string, request: RefreshRequest): Promise<DpopProof> {
  const proof = await request.proof();
  if (proof.jkt !== jkt) throw new Fault("invalid_dpop_proof", { detail: "another key" });
  return proof;
}

/** The session as it stands now, or why there are no tokens: as a value, because the proof is used up either way. */
async function moveOn(
  services: Services,
  tx: Queries,
  { session, key, presented, proof }: Family & { readonly proof: DpopProof | null },
): Promise<SessionRecord | Fault> {
  await useProof(tx, proof, services.nonces.longestLife);
  const rotated = await rotateSession(tx, {
    id: session.id,
    presented,
    presentedHash: refreshTokenHash(refreshToken(key.secret, session.id, presented)),
    nextHash: refreshTokenHash(refreshToken(key.secret, session.id, presented + 1)),
    catchUp: session.jkt !== null,
  });
  if (rotated) {
    await recordEvent(tx, event(rotated, "session.refreshed"));
    return rotated;
  }
  return answerReplay(services, tx, await findSession(tx, session.id), presented);
}

async function answerReplay(
  { config }: Services,
  tx: Queries,
  found: SessionAtTime | null,
  presented: number,
): Promise<SessionRecord | Fault> {
  if (!found) return new Fault("invalid_grant", { detail: "family is gone" });
  const { session, now } = found;
  const family = {
    counter: session.counter,
    bound: session.jkt !== null,
    revoked: session.revokedAt !== null,
    expiresAt: session.expiresAt,
    rotatedAt: session.rotatedAt,
  };
  const decision = decideRefresh(family, presented, now, config.policy.sessions.plain.replay * 1000);
  switch (decision) {
    case "repeat":
      return session;
    case "superseded":
      return new Fault("refresh_superseded");
    case "revoked":
      return new Fault("session_revoked");
    case "expired":
      return new Fault("invalid_grant", { detail: "expired" });
    case "reuse":
      await recordEvent(tx, event(session, "session.reuse_detected"));
      await endSessions(tx, { tenantId: session.tenantId, sessionId: session.id }, "reuse");
      return new Fault("session_revoked", { detail: "refresh token reused" });
    case "rotate":
      throw new Error("The head of a living family did not rotate.");
  }
}

function event(session: SessionRecord, type: "session.refreshed" | "session.reuse_detected") {
  return {
    tenantId: session.tenantId,
    type,
    subject: session.userId,
    sessionId: session.id,
    data: { counter: session.counter },
  };
}
