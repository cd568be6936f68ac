import type { CitizenSession } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import { recordEvent } from "../journal/record.ts";
import { type BirthDate, fitsRecord, parseBirthDate, precisionOf } from "../people/birth-date.ts";
import { canonicalNationalId } from "../people/identifiers.ts";
import { nationalIdProblem } from "../people/national-id-rules.ts";
import type { Services } from "../services.ts";
import { type BornPerson, findBeneficiary, findBornHolder } from "../store/beneficiaries.ts";
import {
  type Budget,
  type Rate,
  secondsUntilOpen,
  settleFailure,
  settleSuccess,
  spend,
  spendAndCount,
} from "../store/budgets.ts";
import type { SessionRecord } from "../store/sessions.ts";
import type { Queries } from "../store/store.ts";
import { budgetKey, budgetSubject } from "../tokens/index-key.ts";
import { releasedOnError, takeAttempt } from "./attempt.ts";
import { type CitizenTenant, citizenTenant } from "./citizen-tenant.ts";
import { countedNetwork } from "./counted-network.ts";
import { knownDevice } from "./known-device.ts";
import type { CitizenCaller } from "./otp-verify.ts";
import { demandSecondStep } from "./second-step.ts";
import { citizenAnswer, type Helper, startCitizenSession } from "./start-citizen-session.ts";

export interface NationalIdClaim {
  readonly idNumber: string;
  readonly dateOfBirth: string;
  /** The signed-in worker who stands by, where one does: ceilings per network do not apply. */
  readonly helper: Helper | null;
}

/**
 * Signs a citizen in by ID number and date of birth. That is knowledge, not proof: it gives a short token of low
 * assurance, or leads to a second step. Every failure is the same `invalid_identity`.
 */
export async function signInWithNationalId(
  services: Services,
  caller: CitizenCaller,
  claim: NationalIdClaim,
): Promise<CitizenSession> {
  const home = await citizenTenant(services, caller.tenantId);
  const number = demandNumber(home, claim.idNumber);
  const said = demandDate(home, claim.dateOfBirth, services.clock.now());
  const limits = limitsOf(services, home, caller, claim, number);
  await demandOpenNetwork(services, limits.network);

  const person = await findBornHolder(services.store, home.cipher, number);
  const deviceId = await knownDevice(services, home.id, person ? [person.id] : [], caller.deviceToken);
  const budgets = [deviceId === null ? limits.number : limits.device(deviceId)];
  await takeAttempt(services, budgets);
  const matched = person?.birth && fitsRecord(person.birth, said) ? person : null;
  const attempt = { home, budgets, deviceId, limits };
  const outcome = await releasedOnError(services, budgets, async () => {
    if (!matched) return storeFailure(services, attempt, person ? "wrong" : "unknown");
    if (!(await needsSecondStep(services, home, matched, deviceId)))
      return storeSession(services, attempt, matched, claim);
    await services.store.transaction((tx) => settle(services, tx, attempt, matched));
    return "second step";
  });
  if (!matched || outcome === null) throw new Fault("invalid_identity");
  if (outcome !== "second step") return citizenAnswer(services, outcome, claim.helper);
  const whole = await findBeneficiary(services.store, home.cipher, matched.id);
  if (!whole) throw new Fault("invalid_identity");
  return demandSecondStep(services, home, whole, { amr: amrOf(claim), helper: claim.helper });
}

interface Attempt {
  readonly home: CitizenTenant;
  readonly budgets: readonly Budget[];
  readonly deviceId: string | null;
  readonly limits: Limits;
}

/** Right, but not more often than a person needs: the transaction is rolled back. */
async function settle({ idBreaker }: Services, tx: Queries, attempt: Attempt, person: BornPerson): Promise<void> {
  const { home, budgets, deviceId, limits } = attempt;
  const spent = await spendAndCount(tx, limits.person(person.id, deviceId));
  if (!spent.granted) throw new Fault("too_many_attempts", { retryAfter: spent.retryAfter });
  if (deviceId === null && spent.count === 1) await idBreaker.count(tx, home.id, home.policy, "people");
  await settleSuccess(tx, budgets);
}

async function storeFailure(
  { store, idBreaker }: Services,
  { home, budgets, limits: { network } }: Attempt,
  what: "wrong" | "unknown",
): Promise<null> {
  await store.transaction(async (tx) => {
    await idBreaker.count(tx, home.id, home.policy, what);
    const closed = await settleFailure(tx, budgets);
    if (network) await spend(tx, network);
    await recordEvent(tx, { tenantId: home.id, type: closed ? "id.blocked" : "id.failed" });
  });
  return null;
}

function demandNumber(home: CitizenTenant, text: string): string {
  const number = canonicalNationalId(text);
  const rules = home.tenant?.settings.nationalId;
  const problem = number === null ? "is not an ID number" : nationalIdProblem(number, rules);
  if (number !== null && (problem === null || rules?.onMismatch !== "refuse")) return number;
  throw new Fault("invalid_request", { field: "idNumber", message: `idNumber ${problem}. Check it and try again.` });
}

function demandDate(home: CitizenTenant, text: string, now: number): BirthDate {
  const date = parseBirthDate(text);
  const isWhole = date !== null && precisionOf(date) === "day";
  if (!isWhole && home.tenant?.settings.nationalId?.birthYearAlone === false) {
    throw new Fault("invalid_request", { field: "dateOfBirth", message: "dateOfBirth needs year, month and day." });
  }
  if (date && Date.UTC(date.year, (date.month ?? 1) - 1, date.day ?? 1) <= now) return date;
  const message = date ? "dateOfBirth is not a date in the past." : "dateOfBirth: there is no such day.";
  throw new Fault("invalid_request", { field: "dateOfBirth", message });
}

interface Limits {
  readonly number: Budget;
  device(deviceId: string): Budget;
  /** How often one person signs in, of their known devices each apart: nobody else can use those up. */
  person(personId: string, deviceId: string | null): Rate;
  /** Null where the network is not counted. */
  readonly network: Rate | null;
}

function limitsOf(
  { keyring }: Services,
  home: CitizenTenant,
  caller: CitizenCaller,
  claim: NationalIdClaim,
  number: string,
): Limits {
  const indexKey = keyring.mac("index").secret;
  const { failures, perNetwork, perPerson } = home.policy.nationalId;
  const key = (...parts: string[]) => budgetKey(indexKey, "national-id", home.id, ...parts);
  const subject = budgetSubject(indexKey, home.id, `national_id:${number}`);
  const network = claim.helper ? null : countedNetwork(caller.address, home.tenant?.settings);
  return {
    number: { key: key("number", subject), subject, ...failures },
    device: (deviceId) => ({ key: key("device", subject, deviceId), subject, ...failures }),
    person: (personId, deviceId) => ({ key: key("person", personId, deviceId ?? ""), subject, ...perPerson }),
    network: network === null ? null : { key: key("network", network), subject: "", ...perNetwork },
  };
}

async function demandOpenNetwork({ store }: Services, network: Rate | null): Promise<void> {
  const retryAfter = network && (await secondsUntilOpen(store, network));
  if (retryAfter !== null) throw new Fault("too_many_attempts", { retryAfter });
}

/** A record without a full date is too easy to guess; a tenant may always ask; a sweep makes us ask strangers. */
async function needsSecondStep(
  { idBreaker }: Services,
  home: CitizenTenant,
  person: BornPerson,
  deviceId: string | null,
): Promise<boolean> {
  if (home.tenant?.settings.nationalId?.secondStep === "always") return true;
  if (person.birth === null || precisionOf(person.birth) !== "day") return true;
  return deviceId === null && (await idBreaker.isTripped(home.id, home.policy));
}

const amrOf = ({ helper }: NationalIdClaim) => (helper ? ["kba", "operator"] : ["kba"]);

/** Null when the person was disabled, or the helper's session ended, meanwhile. */
async function storeSession(
  services: Services,
  attempt: Attempt,
  person: BornPerson,
  claim: NationalIdClaim,
): Promise<SessionRecord | null> {
  const { home, deviceId } = attempt;
  return services.store.transaction(async (tx) => {
    await settle(services, tx, attempt, person);
    const session = await startCitizenSession(services, tx, {
      tenantId: home.id,
      beneficiaryId: person.id,
      provider: "id",
      amr: amrOf(claim),
      acr: "low",
      lifeSeconds: home.policy.nationalId.life,
      deviceId,
      helper: claim.helper,
    });
    if (session) {
      await recordEvent(tx, { tenantId: home.id, type: "id.verified", subject: person.id, sessionId: session.id });
    }
    return session;
  });
}
