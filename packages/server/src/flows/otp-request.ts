import type { OtpSent } from "@fieldgate/contract";
import { enqueue } from "../delivery/outbox.ts";
import { sendRates, tenantSendRate } from "../delivery/send-budgets.ts";
import { Fault } from "../fault.ts";
import { recordEvent } from "../journal/record.ts";
import { demandAllowed } from "../people/recipient-rules.ts";
import type { Services } from "../services.ts";
import { secondsUntilOpen, spend } from "../store/budgets.ts";
import { openChallenge } from "../store/otp-challenges.ts";
import { opaqueId } from "../tokens/opaque-id.ts";
import { citizenTenant } from "./citizen-tenant.ts";
import { countedNetwork } from "./counted-network.ts";
import { demandRecipient } from "./demand-recipient.ts";
import { recipientSubject } from "./otp-budgets.ts";
import { signInSlot } from "./otp-slot.ts";

export interface OtpRequestInput {
  /** It need not exist. */
  readonly tenantId: string;
  readonly recipient: string;
  readonly address: string;
}

/**
 * Has a code sent. Nobody is looked up here: whether anyone has the address is found out when the message is sent, so
 * known and unknown recipients answer, cost and write the same.
 */
export async function requestOtp(services: Services, input: OtpRequestInput): Promise<OtpSent> {
  const { store, keyring } = services;
  const home = await citizenTenant(services, input.tenantId);
  const { id: tenantId, tenant, cipher, policy } = home;
  const recipient = demandRecipient(home, input.recipient);
  demandAllowed(recipient, tenant?.settings);

  const indexKey = keyring.mac("index").secret;
  const subject = recipientSubject(indexKey, tenantId, recipient);
  const network = countedNetwork(input.address, tenant?.settings);
  const { slot, recipient: bound } = signInSlot(indexKey, tenantId, recipient);

  const { expiresIn } = await store.transaction(async (tx) => {
    const key = keyring.mac("otp");
    const fresh = { slot, id: opaqueId(), tenantId, recipient: bound, purpose: "sign-in", keyId: key.id } as const;
    const opened = await openChallenge(tx, fresh, policy.otp);
    if (!opened.send) return opened;
    demandOpen(await secondsUntilOpen(tx, tenantSendRate(indexKey, policy.otp, tenantId)));
    for (const rate of sendRates(indexKey, policy.otp, { tenantId, subject, network }))
      demandOpen(await spend(tx, rate));
    await enqueue(tx, cipher, {
      challenge: opened.challenge,
      medium: recipient.kind === "phone" ? "sms" : "email",
      job: { to: "recipient", kind: recipient.kind, recipient: recipient.identity },
    });
    await recordEvent(tx, { tenantId, type: "otp.requested", data: { medium: recipient.kind } });
    return opened;
  });
  return { success: true, expiresIn };
}

/** Over a limit nothing is kept of the request: the transaction is rolled back. */
function demandOpen(retryAfter: number | null): void {
  if (retryAfter !== null) throw new Fault("rate_limited", { retryAfter });
}
