import type { Services } from "../services.ts";
import type { ClaimedRow } from "../store/outbox.ts";
import { otpCode } from "../tokens/otp-code.ts";
import type { OutboundMessage } from "./channel.ts";
import type { Destination } from "./destination.ts";
import { composeMessage, composeNotice } from "./templates.ts";

/** A code of ten minutes that was asked for a moment ago is good for ten, not for nine. */
const onItsWayMs = 5000;

/** The message with its code, or what it tells instead; null where the code it was to carry is no longer alive. */
export async function composeFor(
  { store, keyring, tenants, config }: Services,
  row: ClaimedRow,
  { address, language, notice }: Destination,
): Promise<OutboundMessage | null> {
  const tenant = await tenants.find(row.tenant_id);
  if (!tenant) return null;
  const languages = [language, tenant.settings.delivery?.language];
  if (notice) {
    return { id: row.id, tenantId: row.tenant_id, to: address, ...composeNotice({ name: tenant.name, languages }) };
  }
  const challenge = await store.db
    .selectFrom("otp_challenges")
    .select(["id", "tenant_id", "recipient", "purpose", "key_id", "expires_at"])
    .where("id", "=", row.challenge_id)
    .where("consumed_at", "is", null)
    .executeTakeFirst();
  const key = challenge && keyring.macById(challenge.key_id);
  if (!challenge || !key) return null;
  const code = otpCode(key.secret, {
    challengeId: challenge.id,
    tenantId: challenge.tenant_id,
    recipient: challenge.recipient,
    purpose: challenge.purpose === "step-up" ? "step-up" : "sign-in",
  });
  const words = composeMessage({
    code,
    minutes: Math.max(1, Math.floor((challenge.expires_at - row.now + onItsWayMs) / 60_000)),
    name: tenant.name,
    host: tenant.settings.hosts[0] ?? new URL(config.baseUrl).hostname,
    medium: row.medium === "email" ? "email" : "sms",
    languages,
    templates: tenant.settings.delivery?.templates,
  });
  return { id: row.id, tenantId: row.tenant_id, to: address, ...words };
}
