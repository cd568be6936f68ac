import type { UserKind } from "@fieldgate/contract";
import { type ExpressionBuilder, type ExpressionWrapper, type Selectable, type SqlBool, sql } from "kysely";
import { recordEvent } from "../journal/record.ts";
import { sendHint } from "./hint.ts";
import { prepare } from "./prepared.ts";
import type { Database, SessionTable } from "./schema.ts";
import type { Queries } from "./store.ts";

/** A signed-in person on one device; also the family of its refresh tokens. */
export interface SessionRecord {
  readonly id: string;
  readonly tenantId: string;
  readonly userId: string;
  readonly kind: UserKind;
  readonly username: string;
  readonly provider: string;
  readonly amr: readonly string[];
  readonly acr: string;
  readonly scope: string;
  readonly entityId: string | null;
  readonly parentId: string | null;
  readonly providerSid: string | null;
  readonly deviceId: string | null;
  readonly refreshKeyId: string | null;
  readonly counter: number;
  readonly jkt: string | null;
  readonly createdAt: number;
  readonly rotatedAt: number;
  readonly expiresAt: number;
  readonly absoluteExpiresAt: number;
  readonly revokedAt: number | null;
  readonly revokedReason: string | null;
}

export type EndReason =
  | "logout"
  | "reuse"
  | "ended_by_admin"
  | "ended_by_owner"
  | "user_disabled"
  | "tenant_disabled"
  | "password_changed"
  | "provider_logout"
  | "restored";

export interface NewSession
  extends Pick<
    SessionRecord,
    | "id"
    | "tenantId"
    | "userId"
    | "kind"
    | "username"
    | "provider"
    | "amr"
    | "acr"
    | "scope"
    | "entityId"
    | "parentId"
    | "deviceId"
    | "refreshKeyId"
    | "jkt"
  > {
  readonly headHash: string | null;
  /** Left out where no identity provider was asked. */
  readonly providerSid?: string | null;
  readonly idleSeconds: number;
  readonly absoluteSeconds: number;
}

/** Changed whenever a session is ended: nodes then look at once. */
export const revocationsTopic = "revocations";

export function toSession(row: Selectable<SessionTable>): SessionRecord {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    userId: row.user_id,
    kind: row.kind as UserKind,
    username: row.username,
    provider: row.provider,
    amr: JSON.parse(row.amr) as string[],
    acr: row.acr,
    scope: row.scope,
    entityId: row.entity_id,
    parentId: row.parent_id,
    providerSid: row.provider_sid,
    deviceId: row.device_id,
    refreshKeyId: row.refresh_key_id,
    counter: row.counter,
    jkt: row.jkt,
    createdAt: row.created_at,
    rotatedAt: row.rotated_at,
    expiresAt: row.expires_at,
    absoluteExpiresAt: row.absolute_expires_at,
    revokedAt: row.revoked_at,
    revokedReason: row.revoked_reason,
  };
}

interface SessionValues {
  readonly amr: string;
  readonly providerSid: string | null;
  readonly idleMs: number;
  readonly firstMs: number;
  readonly absoluteMs: number;
}

const sessionInsert = prepare(
  (tx, session: Omit<NewSession, "amr" | "providerSid" | "idleSeconds" | "absoluteSeconds"> & SessionValues) =>
    tx.db
      .insertInto("sessions")
      .values((eb) => ({
        id: session.id,
        tenant_id: session.tenantId,
        user_id: session.userId,
        kind: session.kind,
        username: session.username,
        provider: session.provider,
        amr: session.amr,
        acr: session.acr,
        scope: session.scope,
        entity_id: session.entityId,
        parent_id: session.parentId,
        provider_sid: session.providerSid,
        device_id: session.deviceId,
        refresh_key_id: session.refreshKeyId,
        counter: 0,
        head_hash: session.headHash,
        parent_hash: null,
        jkt: session.jkt,
        created_at: tx.now,
        rotated_at: tx.now,
        idle_ms: session.idleMs,
        expires_at: eb(tx.now, "+", session.firstMs),
        absolute_expires_at: eb(tx.now, "+", session.absoluteMs),
        revoked_at: null,
        revoked_reason: null,
      }))
      .onConflict((conflict) => conflict.column("id").doNothing())
      .returningAll(),
);

/** Null where there is a session with this id already. */
async function tryInsert(tx: Queries, session: NewSession): Promise<SessionRecord | null> {
  const { amr, providerSid = null, idleSeconds, absoluteSeconds, ...rest } = session;
  const [row] = await sessionInsert(tx, {
    ...rest,
    providerSid,
    amr: JSON.stringify(amr),
    idleMs: idleSeconds * 1000,
    firstMs: Math.min(idleSeconds, absoluteSeconds) * 1000,
    absoluteMs: absoluteSeconds * 1000,
  });
  return row ? toSession(row) : null;
}

export async function insertSession(tx: Queries, session: NewSession): Promise<SessionRecord> {
  const inserted = await tryInsert(tx, session);
  if (!inserted) throw new Error(`There is already a session ${session.id}.`);
  return inserted;
}

/** Inserts a session whose id says what it stands for; one that is there already is left as it is. */
export async function ensureSession(tx: Queries, session: NewSession): Promise<SessionRecord> {
  const inserted = await tryInsert(tx, session);
  if (inserted) return inserted;
  const found = await findSession(tx, session.id);
  if (!found) throw new Error(`The session ${session.id} is neither there nor can be inserted.`);
  return found.session;
}

/** A session together with the database's time at which it was read. */
export interface SessionAtTime {
  readonly session: SessionRecord;
  readonly now: number;
}

const sessionById = prepare((q, { id }: { id: string }) =>
  q.db.selectFrom("sessions").selectAll().select(q.now.as("now")).where("id", "=", id),
);

export async function findSession(q: Queries, id: string): Promise<SessionAtTime | null> {
  const [row] = await sessionById(q, { id });
  return row ? { session: toSession(row), now: row.now } : null;
}

/** Whether a session still lives; until the transaction ends nobody can end it. */
export async function sessionLives(tx: Queries, tenantId: string, id: string): Promise<boolean> {
  let query = tx.db
    .selectFrom("sessions")
    .select("id")
    .where("id", "=", id)
    .where("tenant_id", "=", tenantId)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", tx.now);
  // SQLite runs one writer at a time and needs no lock.
  if (tx.kind === "postgres") query = query.forShare();
  return (await query.executeTakeFirst()) !== undefined;
}

/** The session whose newest refresh token, or that one's parent, has this hash. */
export async function findSessionByTokenHash(q: Queries, hash: string): Promise<SessionRecord | null> {
  const row = await q.db
    .selectFrom("sessions")
    .selectAll()
    .where((eb) => eb.or([eb("head_hash", "=", hash), eb("parent_hash", "=", hash)]))
    .executeTakeFirst();
  return row ? toSession(row) : null;
}

export interface Rotation {
  readonly id: string;
  /** The counter of the token that was presented. */
  readonly presented: number;
  readonly presentedHash: string;
  readonly nextHash: string;
  /**
   * Accept a genuine token that is ahead of the row: after a fail-over or a restore that lost the last rotations, an
   * honest client is not logged out. Only for bound sessions, whose tokens are worth nothing to others.
   */
  readonly catchUp: boolean;
}

interface RotationValues extends Omit<Rotation, "catchUp"> {
  readonly next: number;
}

const preparedRotation = (comparison: "=" | "<=") =>
  prepare((tx, { id, presented, next, presentedHash, nextHash }: RotationValues) =>
    tx.db
      .updateTable("sessions")
      .set({
        counter: next,
        head_hash: nextHash,
        parent_hash: presentedHash,
        rotated_at: tx.now,
        expires_at: sql<number>`CASE WHEN ${tx.now} + idle_ms < absolute_expires_at
          THEN ${tx.now} + idle_ms ELSE absolute_expires_at END`,
      })
      .where("id", "=", id)
      .where("counter", comparison, presented)
      .where("revoked_at", "is", null)
      .where("expires_at", ">", tx.now)
      .returningAll(),
  );
const rotateAt = preparedRotation("=");
const rotateUpTo = preparedRotation("<=");

/** Moves the family on by one, if the presented token is still its head and the session still lives. */
export async function rotateSession(tx: Queries, rotation: Rotation): Promise<SessionRecord | null> {
  const { id, presented, presentedHash, nextHash } = rotation;
  const rotate = rotation.catchUp ? rotateUpTo : rotateAt;
  const [row] = await rotate(tx, { id, presented, next: presented + 1, presentedHash, nextHash });
  return row ? toSession(row) : null;
}

/** The living sessions of a tenant or of one of its people, newest first. */
export async function listSessions(
  q: Queries,
  filter: { readonly tenantId: string; readonly userId?: string },
): Promise<SessionRecord[]> {
  let query = q.db
    .selectFrom("sessions")
    .selectAll()
    .where("tenant_id", "=", filter.tenantId)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", q.now);
  if (filter.userId !== undefined) query = query.where("user_id", "=", filter.userId);
  return (await query.orderBy("created_at", "desc").orderBy("id").execute()).map(toSession);
}

export interface SessionChoice {
  readonly tenantId: string;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** The way in: sessions of one identity provider alone. */
  readonly provider?: string | undefined;
  /** Null: those from which the provider's session is not known. */
  readonly providerSid?: string | null | undefined;
}

/**
 * Ends the living sessions chosen, for good, with those that hang on them, and returns their ids. Other nodes see it
 * within seconds.
 */
export async function endSessions(tx: Queries, choice: SessionChoice, reason: EndReason): Promise<string[]> {
  const { tenantId, ...narrower } = choice;
  const isWholeTenant = Object.values(narrower).every((value) => value === undefined);
  const ended = isWholeTenant ? await revokeTenant(tx, tenantId, reason) : await revokeWithChildren(tx, choice, reason);
  const [first] = ended;
  if (first === undefined) return [];
  const only = ended.length === 1 || choice.sessionId !== undefined ? first : null;
  await recordEvent(tx, {
    tenantId,
    type: "session.ended",
    subject: only?.user_id ?? choice.userId,
    sessionId: only?.id,
    data: { reason, count: ended.length },
  });
  await sendHint(tx, revocationsTopic);
  return ended.map((row) => row.id);
}

type Condition = (eb: ExpressionBuilder<Database, "sessions">) => ExpressionWrapper<Database, "sessions", SqlBool>;

async function revokeWithChildren(tx: Queries, choice: SessionChoice, reason: EndReason) {
  const { tenantId, userId, sessionId, provider, providerSid } = choice;
  const chosen: Condition = (eb) =>
    eb.and([
      eb("tenant_id", "=", tenantId),
      ...(userId === undefined ? [] : [eb("user_id", "=", userId)]),
      ...(sessionId === undefined ? [] : [eb("id", "=", sessionId)]),
      ...(provider === undefined ? [] : [eb("provider", "=", provider)]),
      ...(providerSid === undefined ? [] : [eb("provider_sid", providerSid === null ? "is" : "=", providerSid)]),
    ]);
  const parents = await revoke(tx, reason, chosen);
  if (parents.length === 0) return [];
  const ended = tx.db.selectFrom("sessions").select("id").where(chosen).where("revoked_at", "is not", null);
  return [...parents, ...(await revoke(tx, reason, (eb) => eb("parent_id", "in", ended)))];
}

/** A tenant can have more sessions than one statement may take time for. */
const batchSize = 5000;

async function revokeTenant(tx: Queries, tenantId: string, reason: EndReason) {
  const ended: Awaited<ReturnType<typeof revoke>> = [];
  for (;;) {
    const some = tx.db
      .selectFrom("sessions")
      .select("id")
      .where("tenant_id", "=", tenantId)
      .where("revoked_at", "is", null)
      .limit(batchSize);
    const batch = await revoke(tx, reason, (eb) => eb("id", "in", some));
    // Not when it is short: someone else may just have ended a few of them.
    if (batch.length === 0) return ended;
    ended.push(...batch);
  }
}

function revoke(tx: Queries, reason: EndReason, which: Condition) {
  return tx.db
    .updateTable("sessions")
    .set({ revoked_at: tx.now, revoked_reason: reason })
    .where("revoked_at", "is", null)
    .where(which)
    .returning(["id", "user_id"])
    .execute();
}

export interface Revocation {
  readonly id: string;
  readonly revokedAt: number;
}

const revocationsPage = 20_000;

/** What was ended after an instant, in pages: after a whole country was signed out no statement may take too long. */
export async function listRevocations(q: Queries, since: number): Promise<Revocation[]> {
  const found: Revocation[] = [];
  for (let last: Revocation = { id: "", revokedAt: since + 1 }; ; ) {
    const { id, revokedAt } = last;
    const rows = await q.db
      .selectFrom("sessions")
      .select(["id", "revoked_at"])
      .where((eb) =>
        eb.or([eb("revoked_at", ">", revokedAt), eb.and([eb("revoked_at", "=", revokedAt), eb("id", ">", id)])]),
      )
      .where("revoked_at", ">=", revokedAt)
      .orderBy("revoked_at")
      .orderBy("id")
      .limit(revocationsPage)
      .execute();
    const page = rows.map((row) => ({ id: row.id, revokedAt: row.revoked_at ?? 0 }));
    found.push(...page);
    const end = page.at(-1);
    if (!end || page.length < revocationsPage) return found;
    last = end;
  }
}
