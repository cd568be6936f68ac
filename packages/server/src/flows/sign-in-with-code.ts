import type { CitizenSession } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import { recordEvent } from "../journal/record.ts";
import type { Beneficiary } from "../people/beneficiary.ts";
import type { Recipient } from "../people/identifiers.ts";
import type { Services } from "../services.ts";
import { findIdsByIdentifier, readBeneficiaries } from "../store/beneficiaries.ts";
import { type Budget, releaseAttempt, settleFailure, settleSuccess, spend } from "../store/budgets.ts";
import { consumeChallenge, hasLivingChallenge, type OtpChallenge, takeTry } from "../store/otp-challenges.ts";
import type { SessionRecord } from "../store/sessions.ts";
import type { Queries } from "../store/store.ts";
import { isOtpCode } from "../tokens/otp-code.ts";
import { releasedOnError, takeAttempt } from "./attempt.ts";
import { type CitizenTenant, citizenTenant } from "./citizen-tenant.ts";
import { countedNetwork } from "./counted-network.ts";
import { demandRecipient } from "./demand-recipient.ts";
import { knownDevice } from "./known-device.ts";
import { failureBudget, recipientSubject, strayRate } from "./otp-budgets.ts";
import { signInSlot } from "./otp-slot.ts";
import type { CitizenCaller } from "./otp-verify.ts";
import { openSelection } from "./selection.ts";
import { citizenAnswer, startCitizenSession } from "./start-citizen-session.ts";

/** Exchanges a code for a session. Whatever is wrong, the answer is the same `invalid_code`. */
export async function signInWithCode(
  services: Services,
  caller: CitizenCaller,
  recipientText: string,
  code: string,
): Promise<CitizenSession> {
  const home = await citizenTenant(services, caller.tenantId);
  const recipient = demandRecipient(home, recipientText);
  const indexKey = services.keyring.mac("index").secret;
  const { slot } = signInSlot(indexKey, home.id, recipient);
  if (!(await hasLivingChallenge(services.store, slot, home.policy.otp.tries))) {
    await countStray(services, home, caller.address);
    throw new Fault("invalid_code", { detail: "no living code" });
  }

  const deviceId = await deviceOfRecipient(services, home, recipient, caller.deviceToken);
  const subject = recipientSubject(indexKey, home.id, recipient);
  const budgets = [failureBudget(indexKey, home.policy.otp, { tenantId: home.id, subject, deviceId })];
  await takeAttempt(services, budgets);
  const outcome = await releasedOnError(services, budgets, async () => {
    const challenge = await takeTry(services.store, slot, home.policy.otp.tries);
    if (!challenge) return "gone";
    if (!codeMatches(services, challenge, code)) return "wrong";
    return services.store.transaction((tx) =>
      storeSuccess(services, tx, { home, recipient, challenge, deviceId, budgets }),
    );
  });
  if (typeof outcome === "string") return refuse(services, home.id, budgets, outcome);
  if ("selectionToken" in outcome) throw new Fault("selection_required", { extra: outcome });
  return citizenAnswer(services, outcome, null);
}

/** Why a code was refused: it was wrong, or there was nothing left to compare it with. */
export type Refusal = "wrong" | "gone";

/** One answer for every refusal; only a wrong code counts against the recipient. */
export async function refuse(
  { store }: Services,
  tenantId: string,
  budgets: readonly Budget[],
  refusal: Refusal,
): Promise<never> {
  await store.transaction(async (tx) => {
    if (refusal === "gone") return releaseAttempt(tx, budgets);
    const closed = await settleFailure(tx, budgets);
    await recordEvent(tx, { tenantId, type: closed ? "otp.blocked" : "otp.failed" });
  });
  throw new Fault("invalid_code", { detail: refusal });
}

export function codeMatches({ keyring }: Services, challenge: OtpChallenge, code: string): boolean {
  const key = keyring.macById(challenge.keyId);
  return key !== undefined && isOtpCode(key.secret, { ...challenge, challengeId: challenge.id }, code);
}

/** Tries without a living code count against the network, and close it for a while. */
async function countStray(services: Services, home: CitizenTenant, address: string): Promise<void> {
  const network = countedNetwork(address, home.tenant?.settings);
  if (network === null) return;
  const rate = strayRate(services.keyring.mac("index").secret, home.policy.otp, home.id, network);
  const retryAfter = await services.store.transaction((tx) => spend(tx, rate));
  if (retryAfter !== null) throw new Fault("too_many_attempts", { retryAfter });
}

/** Only who sends a device token causes a look-up; without one everybody's path is the same. */
async function deviceOfRecipient(
  services: Services,
  home: CitizenTenant,
  recipient: Recipient,
  token: string | null,
): Promise<string | null> {
  if (token === null) return null;
  const ids = await findIdsByIdentifier(services.store, home.cipher, recipient.kind, recipient.identity);
  return knownDevice(services, home.id, ids, token);
}

interface Success {
  readonly home: CitizenTenant;
  readonly recipient: Recipient;
  readonly challenge: OtpChallenge;
  readonly deviceId: string | null;
  readonly budgets: readonly Budget[];
}

/** A session, or a choice among a household. */
async function storeSuccess(services: Services, tx: Queries, success: Success) {
  const { home, recipient, challenge, budgets } = success;
  if (!(await consumeChallenge(tx, challenge))) return "gone";
  const ids = await findIdsByIdentifier(tx, home.cipher, recipient.kind, recipient.identity);
  const [only, ...others] = ids;
  if (only === undefined) return "wrong";
  await settleSuccess(tx, budgets);
  // Only a household is shown names: nothing of a person alone is read or opened.
  if (others.length > 0) {
    return openSelection(tx, home, await readBeneficiaries(tx, home.cipher, ids), recipient.kind);
  }
  return (await startOtpSession(services, tx, home, { id: only }, recipient.kind, success.deviceId)) ?? "gone";
}

/** A text message reaches one phone; an email account can be opened from anywhere. */
export const assuranceOf = { phone: "substantial", email: "low" } as const;

export async function startOtpSession(
  services: Services,
  tx: Queries,
  home: CitizenTenant,
  person: Pick<Beneficiary, "id">,
  kind: "phone" | "email",
  deviceId: string | null,
): Promise<SessionRecord | null> {
  const session = await startCitizenSession(services, tx, {
    tenantId: home.id,
    beneficiaryId: person.id,
    provider: "otp",
    amr: ["otp"],
    acr: assuranceOf[kind],
    lifeSeconds: home.policy.tokens.citizenAccess,
    deviceId,
    helper: null,
  });
  if (!session) return null;
  await recordEvent(tx, {
    tenantId: home.id,
    type: "otp.verified",
    subject: person.id,
    sessionId: session.id,
    data: { medium: kind },
  });
  return session;
}
