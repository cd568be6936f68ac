import type { Recipient } from "../people/identifiers.ts";
import { mac } from "../tokens/mac.ts";

/** Where the one living code for something is kept, and what that code is bound to. */
export interface OtpSlot {
  readonly slot: string;
  readonly recipient: string;
}

// Made with a key of the deployment, not of the tenant: a rotation of the tenant's keys loses no code on its way.

export function signInSlot(indexKey: Uint8Array, tenantId: string, { kind, identity }: Recipient): OtpSlot {
  return slotOf(indexKey, "sign-in", mac(indexKey, "otp-recipient", tenantId, kind, identity));
}

export function stepUpSlot(indexKey: Uint8Array, tenantId: string, beneficiaryId: string): OtpSlot {
  return slotOf(indexKey, "step-up", mac(indexKey, "otp-recipient", tenantId, "beneficiary", beneficiaryId));
}

function slotOf(indexKey: Uint8Array, purpose: string, recipient: string): OtpSlot {
  return { slot: mac(indexKey, "otp-slot", purpose, recipient), recipient };
}
