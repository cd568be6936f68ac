import { randomUUID } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import type { Beneficiary } from "../people/beneficiary.ts";
import type { TenantCipher } from "../people/data-keys.ts";
import type { RecipientKind } from "../people/identifiers.ts";
import type { OtpChallenge } from "../store/otp-challenges.ts";
import type { Queries } from "../store/store.ts";

export type Medium = "sms" | "email";

/** Whom a message is for. Who that is, and the address it really goes to, is found out when it is sent. */
export type Job =
  | { readonly to: "recipient"; readonly kind: RecipientKind; readonly recipient: string }
  | { readonly to: "beneficiary"; readonly beneficiaryId: string }
  | { readonly to: "former"; readonly address: string; readonly language: string | null };

export interface NewMessage {
  readonly challenge: OtpChallenge;
  readonly medium: Medium;
  readonly job: Job;
}

export const outboxPlace = (row: string) => ({ table: "outbox", row, column: "sealed_job" });

/** What a notice has in place of a challenge: so it is found again when the person is erased. */
export const noticeTo = (beneficiaryId: string) => `notice:${beneficiaryId}`;
export const isNotice = (row: { readonly challenge_id: string }) => row.challenge_id.startsWith("notice:");

const noticeLifeMs = 24 * 3600 * 1000;

/** Tells somebody that their identifiers were changed, at every address they had before that. */
export async function tellFormerAddresses(tx: Queries, cipher: TenantCipher, before: Beneficiary): Promise<void> {
  const { id, phones, emails, language } = before;
  const expiresAt = sql<number>`${tx.now} + cast(${noticeLifeMs} as bigint)`;
  const tell = (medium: Medium, address: string) =>
    insertMessage(tx, cipher, { about: noticeTo(id), expiresAt, medium, job: { to: "former", address, language } });
  for (const phone of phones) await tell("sms", phone);
  for (const email of emails) await tell("email", email);
}

/** Puts a message on its way in the transaction of what it tells of. It holds no code: that is derived when it is sent. */
export async function enqueue(
  tx: Queries,
  cipher: TenantCipher,
  { challenge, medium, job }: NewMessage,
): Promise<void> {
  await insertMessage(tx, cipher, { about: challenge.id, expiresAt: challenge.expiresAt, medium, job });
}

interface Message {
  readonly about: string;
  readonly medium: Medium;
  readonly job: Job;
  readonly expiresAt: number | RawBuilder<number>;
}

async function insertMessage(
  tx: Queries,
  cipher: TenantCipher,
  { about, medium, job, expiresAt }: Message,
): Promise<void> {
  const id = randomUUID();
  await tx.db
    .insertInto("outbox")
    .values({
      id,
      tenant_id: cipher.tenantId,
      challenge_id: about,
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
      expires_at: expiresAt,
    })
    .execute();
}
