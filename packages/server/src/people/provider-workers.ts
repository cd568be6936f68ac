import { hash, randomUUID } from "node:crypto";
import type { WorkerRole } from "@fieldgate/contract";
import { sql } from "kysely";
import { recordEvent } from "../journal/record.ts";
import type { Queries } from "../store/store.ts";
import { toWorker, type Worker } from "./workers.ts";

/** A person as an identity provider knows them: (issuer, subject), and nothing else, is who it is. */
export interface ProviderIdentity {
  readonly tenantId: string;
  /** Without a slash at its end. */
  readonly issuer: string;
  readonly subject: string;
}

export interface ProviderProfile {
  readonly username: string;
  /** Null leaves them as they are. */
  readonly roles: readonly WorkerRole[] | null;
}

/**
 * The `username_key` of a provider's worker. Folded usernames have no capitals, so no username that anyone types is it:
 * a name that a person chose at a provider never stands for a worker with a password.
 */
function identityKey({ issuer, subject }: ProviderIdentity): string {
  return `OIDC:${hash("sha256", JSON.stringify([issuer, subject]), "base64url")}`;
}

export async function findProviderWorker(q: Queries, identity: ProviderIdentity): Promise<Worker | null> {
  const row = await q.db
    .selectFrom("workers")
    .selectAll()
    .where("tenant_id", "=", identity.tenantId)
    .where("issuer", "=", identity.issuer)
    .where("subject", "=", identity.subject)
    .executeTakeFirst();
  return row ? toWorker(row) : null;
}

/** Adds the worker, unless another request did so at the same moment: then it is that one. */
export async function addProviderWorker(
  tx: Queries,
  identity: ProviderIdentity,
  profile: ProviderProfile,
): Promise<{ readonly worker: Worker; readonly added: boolean }> {
  const roles = profile.roles ?? ["field-worker"];
  const row = await tx.db
    .insertInto("workers")
    .values({
      id: randomUUID(),
      tenant_id: identity.tenantId,
      username: profile.username,
      username_key: identityKey(identity),
      password_hash: null,
      credential_version: 1,
      roles: JSON.stringify(roles),
      issuer: identity.issuer,
      subject: identity.subject,
      created_at: tx.now,
      updated_at: tx.now,
      disabled_at: null,
    })
    .onConflict((conflict) => conflict.columns(["tenant_id", "username_key"]).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) {
    const worker = await findProviderWorker(tx, identity);
    if (!worker) throw new Error("A worker of an identity provider is neither there nor can be added.");
    return { worker, added: false };
  }
  await recordEvent(tx, {
    tenantId: row.tenant_id,
    type: "worker.added",
    subject: row.id,
    data: { roles: roles.join(" "), way: "provider" },
  });
  return { worker: toWorker(row), added: true };
}

/** Takes over what the provider says of the person now. */
export async function updateProviderWorker(tx: Queries, worker: Worker, profile: ProviderProfile): Promise<Worker> {
  const roles = JSON.stringify(profile.roles ?? worker.roles);
  const rolesChange = roles !== JSON.stringify(worker.roles);
  if (!rolesChange && profile.username === worker.username) return worker;
  const row = await tx.db
    .updateTable("workers")
    .set({
      username: profile.username,
      roles,
      updated_at: tx.now,
      ...(rolesChange && { credential_version: sql<number>`credential_version + 1` }),
    })
    .where("tenant_id", "=", worker.tenantId)
    .where("id", "=", worker.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (rolesChange) {
    await recordEvent(tx, {
      tenantId: worker.tenantId,
      type: "worker.roles_changed",
      subject: worker.id,
      data: { roles: (profile.roles ?? worker.roles).join(" ") },
    });
  }
  return toWorker(row);
}
