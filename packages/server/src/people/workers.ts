import { randomUUID } from "node:crypto";
import { type WorkerRole, workerRoles } from "@fieldgate/contract";
import { type Selectable, sql } from "kysely";
import { Fault } from "../fault.ts";
import type { EventType } from "../journal/event.ts";
import { recordEvent } from "../journal/record.ts";
import { clearSubject } from "../store/budgets.ts";
import { prepare } from "../store/prepared.ts";
import type { WorkerTable } from "../store/schema.ts";
import { endSessions } from "../store/sessions.ts";
import type { Queries } from "../store/store.ts";
import { findTenant } from "./tenants.ts";
import { checkUsername, foldUsername } from "./username.ts";

export { foldUsername } from "./username.ts";

export interface Worker {
  readonly id: string;
  readonly tenantId: string;
  readonly username: string;
  readonly usernameKey: string;
  readonly passwordHash: string | null;
  /** Grows with each change of password or state. */
  readonly credentialVersion: number;
  readonly roles: readonly WorkerRole[];
  readonly disabledAt: number | null;
}

export interface NewWorker {
  readonly tenantId: string;
  readonly username: string;
  /** Null for a worker who signs in another way. */
  readonly passwordHash: string | null;
  readonly roles: readonly string[];
}

export function toWorker(row: Selectable<WorkerTable>): Worker {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    username: row.username,
    usernameKey: row.username_key,
    passwordHash: row.password_hash,
    credentialVersion: row.credential_version,
    roles: JSON.parse(row.roles) as WorkerRole[],
    disabledAt: row.disabled_at,
  };
}

export function checkRoles(roles: readonly string[]): WorkerRole[] {
  const unknown = roles.find((role) => !workerRoles.some((known) => known === role));
  if (unknown === undefined && roles.length > 0) return workerRoles.filter((role) => roles.includes(role));
  const got = unknown === undefined ? "none was given" : `"${unknown}" is none of them`;
  throw new Fault("invalid_request", {
    field: "roles",
    message: `A role is one of ${workerRoles.join(", ")}: ${got}.`,
  });
}

const workerByName = prepare((q, name: { readonly tenantId: string; readonly usernameKey: string }) =>
  q.db
    .selectFrom("workers")
    .selectAll()
    .where("tenant_id", "=", name.tenantId)
    .where("username_key", "=", name.usernameKey),
);

export async function findWorker(q: Queries, tenantId: string, username: string): Promise<Worker | null> {
  // PostgreSQL refuses NUL in any text. No worker has one, so nothing is lost by asking without.
  const usernameKey = foldUsername(username).replaceAll("\0", "\uFFFD");
  const [row] = await workerByName(q, { tenantId, usernameKey });
  return row ? toWorker(row) : null;
}

export async function findWorkerById(q: Queries, tenantId: string, id: string): Promise<Worker | null> {
  const row = await q.db
    .selectFrom("workers")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row ? toWorker(row) : null;
}

const livingCredential = prepare((tx, credential: Pick<Worker, "id" | "credentialVersion">) => {
  const query = tx.db
    .selectFrom("workers")
    .innerJoin("tenants", "tenants.id", "workers.tenant_id")
    .select("workers.id")
    .where("workers.id", "=", credential.id)
    .where("workers.credential_version", "=", credential.credentialVersion)
    .where("workers.disabled_at", "is", null)
    .where("tenants.disabled_at", "is", null);
  // SQLite runs one writer at a time and needs no lock.
  return tx.kind === "postgres" ? query.forShare() : query;
});

/**
 * Whether the credential that was checked is still the current one. Until the transaction ends nobody can change it, so
 * that a sign-in and a change of password at the same moment leave no session behind.
 */
export async function credentialStillHolds(tx: Queries, worker: Worker): Promise<boolean> {
  const { id, credentialVersion } = worker;
  return (await livingCredential(tx, { id, credentialVersion })).length === 1;
}

export async function listWorkers(q: Queries, tenantId: string): Promise<Worker[]> {
  const rows = await q.db
    .selectFrom("workers")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .orderBy("username_key")
    .execute();
  return rows.map(toWorker);
}

/** Adds a worker and the journal's event. The password has been checked and hashed before. */
export async function addWorker(tx: Queries, worker: NewWorker): Promise<Worker> {
  const username = checkUsername(worker.username);
  const roles = checkRoles(worker.roles);
  if (!(await findTenant(tx, worker.tenantId))) {
    throw new Fault("tenant_not_found", { message: `There is no tenant with the id ${worker.tenantId}.` });
  }
  const row = await tx.db
    .insertInto("workers")
    .values({
      id: randomUUID(),
      tenant_id: worker.tenantId,
      username,
      username_key: foldUsername(username),
      password_hash: worker.passwordHash,
      credential_version: 1,
      roles: JSON.stringify(roles),
      issuer: null,
      subject: null,
      created_at: tx.now,
      updated_at: tx.now,
      disabled_at: null,
    })
    .onConflict((conflict) => conflict.columns(["tenant_id", "username_key"]).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) {
    throw new Fault("invalid_request", {
      field: "username",
      message: `The tenant ${worker.tenantId} already has a user "${username}", perhaps spelt a little differently.`,
    });
  }
  await recordEvent(tx, {
    tenantId: row.tenant_id,
    type: "worker.added",
    subject: row.id,
    data: { roles: roles.join(" ") },
  });
  return toWorker(row);
}

type Change = { password_hash: string } | { disabled_at: number | null } | { disabled_at: Queries["now"] };

/** Every change of a credential raises its version, so that a sign-in under way with the old one comes to nothing. */
async function changeWorker(tx: Queries, worker: Worker, type: EventType, change: Change): Promise<Worker> {
  const row = await tx.db
    .updateTable("workers")
    .set({ ...change, credential_version: sql<number>`credential_version + 1`, updated_at: tx.now })
    .where("tenant_id", "=", worker.tenantId)
    .where("id", "=", worker.id)
    .returningAll()
    .executeTakeFirst();
  if (!row) throw new Fault("not_found", { message: `The user "${worker.username}" is gone.` });
  await recordEvent(tx, {
    tenantId: row.tenant_id,
    type,
    subject: row.id,
    data: { credentialVersion: row.credential_version },
  });
  return toWorker(row);
}

/** Sets the hash of a new password and ends the worker's sessions. */
export async function setPassword(tx: Queries, worker: Worker, hash: string): Promise<Worker> {
  const changed = await changeWorker(tx, worker, "worker.password_changed", { password_hash: hash });
  await endSessions(tx, { tenantId: worker.tenantId, userId: worker.id }, "password_changed");
  return changed;
}

/** Closes every way in for the worker and ends the sessions. Already disabled: nothing changes. */
export async function disableWorker(tx: Queries, worker: Worker): Promise<Worker> {
  if (worker.disabledAt !== null) return worker;
  const changed = await changeWorker(tx, worker, "worker.disabled", { disabled_at: tx.now });
  await endSessions(tx, { tenantId: worker.tenantId, userId: worker.id }, "user_disabled");
  return changed;
}

/** Opens the ways in again; ended sessions stay ended. Not disabled: nothing changes. */
export async function enableWorker(tx: Queries, worker: Worker): Promise<Worker> {
  if (worker.disabledAt === null) return worker;
  return changeWorker(tx, worker, "worker.enabled", { disabled_at: null });
}

/** Keeps a stronger hash of the same password, only while the credential is the one that was checked. */
export async function storeRehash(tx: Queries, worker: Worker, hash: string): Promise<void> {
  const stored = await tx.db
    .updateTable("workers")
    .set({ password_hash: hash, updated_at: tx.now })
    .where("tenant_id", "=", worker.tenantId)
    .where("id", "=", worker.id)
    .where("credential_version", "=", worker.credentialVersion)
    .where("password_hash", "=", worker.passwordHash)
    .returning("id")
    .executeTakeFirst();
  if (!stored) return;
  await recordEvent(tx, { tenantId: worker.tenantId, type: "worker.password_rehashed", subject: worker.id });
}

/**
 * Forgets the failed attempts of a worker.
 *
 * @param subject whose budgets they are, as `budgetSubject` names the worker
 * @returns how many budgets were cleared
 */
export async function unlockWorker(tx: Queries, worker: Worker, subject: string): Promise<number> {
  const cleared = await clearSubject(tx, subject);
  await recordEvent(tx, {
    tenantId: worker.tenantId,
    type: "worker.unlocked",
    subject: worker.id,
    data: { budgets: cleared },
  });
  return cleared;
}
