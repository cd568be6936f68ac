import { noticeTo } from "../delivery/outbox.ts";
import { recordEvent } from "../journal/record.ts";
import type { Beneficiary } from "../people/beneficiary.ts";
import type { TenantCipher } from "../people/data-keys.ts";
import { parseRecipient } from "../people/identifiers.ts";
import { findByIdentifier } from "../store/beneficiaries.ts";
import { clearSubject } from "../store/budgets.ts";
import { endSessions } from "../store/sessions.ts";
import type { Queries } from "../store/store.ts";
import { budgetSubject } from "../tokens/index-key.ts";
import { eraseEntity } from "./erase-entity.ts";
import { recipientSubject } from "./otp-budgets.ts";
import { signInSlot, stepUpSlot } from "./otp-slot.ts";

export interface ErasureContext {
  readonly cipher: TenantCipher;
  /** The deployment's key that names budgets and codes. */
  readonly indexKey: Uint8Array;
}

/**
 * Removes all that is kept of a person: facts, identifiers, cards, events, the vault key, devices, codes on their way and
 * failed attempts.
 * Sessions end; their rows, which hold opaque ids alone, stay until every node has learnt of it. The journal keeps the
 * opaque id.
 */
export async function eraseBeneficiary(
  tx: Queries,
  context: ErasureContext,
  person: Beneficiary,
  reason: "asked" | "retention" | "merged",
): Promise<void> {
  const { id, tenantId } = person;
  // Two records of one person become one: what events say of them stays, as the facts do.
  if (reason !== "merged") await eraseEntity(tx, context.cipher, id);
  await tx.db.deleteFrom("vault_keys").where("tenant_id", "=", tenantId).where("user_id", "=", id).execute();
  await tx.db.deleteFrom("outbox").where("challenge_id", "=", noticeTo(id)).execute();
  await endSessions(tx, { tenantId, userId: id }, "user_disabled");
  await forgetAttempts(tx, context, person);
  await tx.db.deleteFrom("devices").where("tenant_id", "=", tenantId).where("user_id", "=", id).execute();
  await tx.db.deleteFrom("cards").where("beneficiary_id", "=", id).execute();
  await tx.db.deleteFrom("identifiers").where("beneficiary_id", "=", id).execute();
  await tx.db.deleteFrom("beneficiaries").where("id", "=", id).where("tenant_id", "=", tenantId).execute();
  await recordEvent(tx, { tenantId, type: "beneficiary.erased", subject: id, data: { reason } });
}

/** Codes and counts by which the person could be recognised, unless someone else has the same address too. */
async function forgetAttempts(tx: Queries, { cipher, indexKey }: ErasureContext, person: Beneficiary): Promise<void> {
  const { id, tenantId } = person;
  await clearSubject(tx, budgetSubject(indexKey, tenantId, `beneficiary:${id}`));
  await dropCode(tx, stepUpSlot(indexKey, tenantId, id).slot);
  for (const { number } of person.nationalIds) {
    await clearSubject(tx, budgetSubject(indexKey, tenantId, `national_id:${number}`));
  }
  for (const address of [...person.phones, ...person.emails]) {
    const recipient = parseRecipient(address, undefined);
    if (!recipient) continue;
    const holders = await findByIdentifier(tx, cipher, recipient.kind, recipient.identity);
    if (holders.some((holder) => holder.id !== id)) continue;
    await clearSubject(tx, recipientSubject(indexKey, tenantId, recipient));
    await dropCode(tx, signInSlot(indexKey, tenantId, recipient).slot);
  }
}

async function dropCode(tx: Queries, slot: string): Promise<void> {
  const dropped = await tx.db.deleteFrom("otp_challenges").where("slot", "=", slot).returning("id").execute();
  for (const { id } of dropped) await tx.db.deleteFrom("outbox").where("challenge_id", "=", id).execute();
}
