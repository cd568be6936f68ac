import { randomUUID } from "node:crypto";
import type { TenantCipher } from "../people/data-keys.ts";
import type { RecipientKind } from "../people/identifiers.ts";
import type { OtpChallenge } from "../store/otp-challenges.ts";
import type { Queries } from "../store/store.ts";

export type Medium = "sms" | "email";

/** Whom a message is for. Who that is, and the address it really goes to, is found out when it is sent. */
export type Job =
  | { readonly to: "recipient"; readonly kind: RecipientKind; readonly recipient: string }
  | { readonly to: "beneficiary"; readonly beneficiaryId: string };

export interface NewMessage {
  readonly challenge: OtpChallenge;
  readonly medium: Medium;
  readonly job: Job;
}

export const outboxPlace = (row: string) => ({ table: "outbox", row, column: "sealed_job" });

/** Puts a message on its way in the transaction of what it tells of. It holds no code: that is derived when it is sent. */
export async function enqueue(
  tx: Queries,
  cipher: TenantCipher,
  { challenge, medium, job }: NewMessage,
): Promise<void> {
  const id = randomUUID();
  await tx.db
    .insertInto("outbox")
    .values({
      id,
      tenant_id: cipher.tenantId,
      challenge_id: challenge.id,
      state: "pending",
      medium,
      sealed_job: cipher.seal(outboxPlace(id), JSON.stringify(job)),
      attempts: 0,
      channel_index: 0,
      channel: null,
      provider_id: null,
      next_at: tx.now,
      claimed_by: null,
      claimed_until: 0,
      created_at: tx.now,
      expires_at: challenge.expiresAt,
    })
    .execute();
}
