import type { CitizenSession } from "@fieldgate/contract";
import { enqueue } from "../delivery/outbox.ts";
import { sendRates, tenantSendRate } from "../delivery/send-budgets.ts";
import { Fault } from "../fault.ts";
import { recordEvent } from "../journal/record.ts";
import type { Beneficiary } from "../people/beneficiary.ts";
import { maskedAddress } from "../people/masked-address.ts";
import type { Services } from "../services.ts";
import { secondsUntilOpen, settleSuccess, spend } from "../store/budgets.ts";
import { consumeHandle, createHandle, readHandle } from "../store/handles.ts";
import { consumeChallenge, openChallenge, takeTry } from "../store/otp-challenges.ts";
import { budgetSubject } from "../tokens/index-key.ts";
import { opaqueId } from "../tokens/opaque-id.ts";
import { releasedOnError, takeAttempt } from "./attempt.ts";
import { type CitizenTenant, citizenTenant } from "./citizen-tenant.ts";
import { knownDevice } from "./known-device.ts";
import { failureBudget } from "./otp-budgets.ts";
import { stepUpSlot } from "./otp-slot.ts";
import type { CitizenCaller } from "./otp-verify.ts";
import { codeMatches, refuse } from "./sign-in-with-code.ts";
import { citizenAnswer, type Helper, startCitizenSession } from "./start-citizen-session.ts";

/** What was proven in the first step, kept until the second is. */
interface StepUpState {
  readonly beneficiaryId: string;
  readonly amr: readonly string[];
  readonly helper: Helper | null;
}

/**
 * Sends a code to the person's registered address and refuses with `step_up_required`; without an address, with
 * `assistance_required`. Only for someone whose first step was right: the answer says so.
 */
export async function demandSecondStep(
  services: Services,
  home: CitizenTenant,
  person: Beneficiary,
  { amr, helper }: Pick<StepUpState, "amr" | "helper">,
): Promise<never> {
  const { keyring, store } = services;
  const [address] = [...person.phones, ...person.emails];
  if (address === undefined) throw new Fault("assistance_required");
  const medium = person.phones.length > 0 ? "sms" : "email";
  const indexKey = keyring.mac("index").secret;
  const subject = stepUpSubject(indexKey, home.id, person.id);
  const { slot, recipient } = stepUpSlot(indexKey, home.id, person.id);

  const answer = await store.transaction(async (tx) => {
    const keyId = keyring.mac("otp").id;
    const fresh = { slot, id: opaqueId(), tenantId: home.id, recipient, purpose: "step-up", keyId } as const;
    // No longer than the handle it is sent with: the message says how long the code is good.
    const life = Math.min(home.policy.otp.life, home.policy.otp.handle);
    const { challenge, send, expiresIn } = await openChallenge(tx, fresh, { ...home.policy.otp, life });
    if (send) {
      const rates = sendRates(indexKey, home.policy.otp, { tenantId: home.id, subject, network: null });
      demandOpen(await secondsUntilOpen(tx, tenantSendRate(indexKey, home.policy.otp, home.id)));
      for (const rate of rates) demandOpen(await spend(tx, rate));
      await enqueue(tx, home.cipher, { challenge, medium, job: { to: "beneficiary", beneficiaryId: person.id } });
      await recordEvent(tx, { tenantId: home.id, type: "otp.requested", subject: person.id, data: { step: 2 } });
    }
    const state: StepUpState = { beneficiaryId: person.id, amr, helper };
    const handle = await createHandle(tx, home.cipher, "step-up", state, home.policy.otp.handle);
    return {
      challenge: handle,
      destination: maskedAddress(address),
      expiresIn,
    };
  });
  throw new Fault("step_up_required", { extra: answer });
}

/** Completes a second step with the code that was sent. */
export async function completeSecondStep(
  services: Services,
  caller: CitizenCaller,
  handle: string,
  code: string,
): Promise<CitizenSession> {
  const home = await citizenTenant(services, caller.tenantId);
  const state = await readHandle<StepUpState>(services.store, home.cipher, "step-up", handle);
  if (!state) throw new Fault("invalid_code", { detail: "no such challenge" });
  const { beneficiaryId, helper } = state;
  const indexKey = services.keyring.mac("index").secret;
  const { slot } = stepUpSlot(indexKey, home.id, beneficiaryId);
  const subject = stepUpSubject(indexKey, home.id, beneficiaryId);
  const deviceId = await knownDevice(services, home.id, [beneficiaryId], caller.deviceToken);
  const budgets = [failureBudget(indexKey, home.policy.otp, { tenantId: home.id, subject, deviceId })];

  await takeAttempt(services, budgets);
  const outcome = await releasedOnError(services, budgets, async () => {
    const challenge = await takeTry(services.store, slot, home.policy.otp.tries);
    if (!challenge) return "gone";
    if (!codeMatches(services, challenge, code)) return "wrong";
    return services.store.transaction(async (tx) => {
      if (!(await consumeChallenge(tx, challenge)) || !(await consumeHandle(tx, handle))) return "gone";
      const started = await startCitizenSession(services, tx, {
        tenantId: home.id,
        beneficiaryId,
        provider: "id",
        amr: [...state.amr, "otp"],
        acr: "substantial",
        lifeSeconds: home.policy.tokens.citizenAccess,
        deviceId,
        helper,
      });
      if (!started) return "gone";
      await settleSuccess(tx, budgets);
      await recordEvent(tx, {
        tenantId: home.id,
        type: "otp.verified",
        subject: beneficiaryId,
        sessionId: started.id,
        data: { step: 2 },
      });
      return started;
    });
  });
  if (typeof outcome === "string") return refuse(services, home.id, budgets, outcome);
  return citizenAnswer(services, outcome, helper);
}

const stepUpSubject = (indexKey: Uint8Array, tenantId: string, beneficiaryId: string) =>
  budgetSubject(indexKey, tenantId, `beneficiary:${beneficiaryId}`);

function demandOpen(retryAfter: number | null): void {
  if (retryAfter !== null) throw new Fault("rate_limited", { retryAfter });
}
