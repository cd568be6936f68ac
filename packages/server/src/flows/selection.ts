import type { CitizenSession } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import type { Beneficiary } from "../people/beneficiary.ts";
import type { Services } from "../services.ts";
import { findBeneficiary } from "../store/beneficiaries.ts";
import { consumeHandle, createHandle, readHandle } from "../store/handles.ts";
import type { Queries } from "../store/store.ts";
import { type CitizenTenant, citizenTenant } from "./citizen-tenant.ts";
import { knownDevice } from "./known-device.ts";
import type { CitizenCaller } from "./otp-verify.ts";
import { startOtpSession } from "./sign-in-with-code.ts";
import { citizenAnswer } from "./start-citizen-session.ts";

/** The people among whom a household chooses, frozen when the code was proven. */
interface SelectionState {
  readonly candidates: readonly string[];
  readonly kind: "phone" | "email";
}

/** What the proven holder of a shared address is told: given names, and a handle to choose with. */
export async function openSelection(
  tx: Queries,
  home: CitizenTenant,
  people: readonly Beneficiary[],
  kind: "phone" | "email",
) {
  const state: SelectionState = { candidates: people.map((person) => person.id), kind };
  const selectionToken = await createHandle(tx, home.cipher, "selection", state, home.policy.otp.handle);
  return {
    selection: people.map((person) => ({ entityId: person.id, label: person.names.given })),
    selectionToken,
    ...(home.tenant?.settings.otp?.askBirthYear && { birthYearRequired: true }),
    expiresIn: home.policy.otp.handle,
  };
}

export interface Choice {
  readonly selectionToken: string;
  readonly entityId: string;
  readonly birthYear: number | undefined;
}

/** Finishes the sign-in of one person of a household. */
export async function completeSelection(
  services: Services,
  caller: CitizenCaller,
  choice: Choice,
): Promise<CitizenSession> {
  const home = await citizenTenant(services, caller.tenantId);
  const state = await readHandle<SelectionState>(services.store, home.cipher, "selection", choice.selectionToken);
  if (!state?.candidates.includes(choice.entityId)) throw new Fault("invalid_code", { detail: "no such choice" });
  const deviceId = await knownDevice(services, home.id, [choice.entityId], caller.deviceToken);

  const session = await services.store.transaction(async (tx) => {
    if (!(await consumeHandle(tx, choice.selectionToken))) return null;
    const person = await findBeneficiary(tx, home.cipher, choice.entityId);
    if (!person || !birthYearFits(home, person, choice.birthYear)) return null;
    return startOtpSession(services, tx, home, person, state.kind, deviceId);
  });
  if (!session) throw new Fault("invalid_code", { detail: "choice used before, or refused" });
  return citizenAnswer(services, session, null);
}

/** One try: a wrong year costs the handle, and with it the code. */
function birthYearFits(home: CitizenTenant, person: Beneficiary, year: number | undefined): boolean {
  if (!home.tenant?.settings.otp?.askBirthYear) return true;
  return person.birth !== null && person.birth.year === year;
}
