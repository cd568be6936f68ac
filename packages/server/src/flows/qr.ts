import type { CitizenSession } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import { recordEvent } from "../journal/record.ts";
import type { Beneficiary } from "../people/beneficiary.ts";
import { contradicts } from "../people/birth-date.ts";
import { holderOfCard, isRevoked } from "../people/cards.ts";
import { canonicalNationalId } from "../people/identifiers.ts";
import { listIssuers, tenantsTrusting } from "../people/qr-issuers.ts";
import { type ReadCard, readCard, type VerifiedCard, verifyCard } from "../qr/verify-card.ts";
import type { Services } from "../services.ts";
import { findBeneficiary, findByExternalId, findHolder } from "../store/beneficiaries.ts";
import { type Rate, secondsUntilOpen, spend } from "../store/budgets.ts";
import { budgetKey } from "../tokens/index-key.ts";
import { type CitizenTenant, citizenTenant } from "./citizen-tenant.ts";
import { countedNetwork } from "./counted-network.ts";
import { knownDevice } from "./known-device.ts";
import type { CitizenCaller } from "./otp-verify.ts";
import { demandSecondStep } from "./second-step.ts";
import { citizenAnswer, type Helper, startCitizenSession } from "./start-citizen-session.ts";

/** The tenant of a card that names none otherwise: the only one that trusts its issuer. Nothing is proven by that. */
export async function tenantOfCard({ store }: Services, qrPayload: string): Promise<string | null> {
  const { iss } = readCard(qrPayload).claims;
  const [only, ...others] = iss === null ? [] : await tenantsTrusting(store, iss);
  return only !== undefined && others.length === 0 ? only : null;
}

/** Signs a citizen in by a scanned card. `helper` is the worker who presents it, where one does. */
export async function signInWithQr(
  services: Services,
  caller: CitizenCaller,
  qrPayload: string,
  helper: Helper | null,
): Promise<CitizenSession> {
  const card = readCard(qrPayload);
  const home = await citizenTenant(services, caller.tenantId);
  const limits = limitsOf(services, home, caller, card, helper !== null);
  for (const rate of limits.all) await demandOpen(services, rate);

  const person = await refusedAs(services, home, limits, () => holderOf(services, home, card));
  const deviceId = await knownDevice(services, home.id, [person.id], caller.deviceToken);
  if (helper === null && home.tenant?.settings.qr?.secondStep === "always") {
    return demandSecondStep(services, home, person, { amr: ["qr"], helper });
  }
  const session = await services.store.transaction(async (tx) => {
    await spend(tx, limits.card);
    const started = await startCitizenSession(services, tx, {
      tenantId: home.id,
      beneficiaryId: person.id,
      provider: "id",
      amr: helper ? ["qr", "operator"] : ["qr"],
      acr: "low",
      lifeSeconds: home.policy.qr.life,
      deviceId,
      helper,
    });
    if (started) {
      const data = { assisted: helper !== null };
      await recordEvent(tx, {
        tenantId: home.id,
        type: "qr.verified",
        subject: person.id,
        sessionId: started.id,
        data,
      });
    }
    return started;
  });
  if (!session) throw new Fault("qr_invalid", { detail: "disabled meanwhile" });
  return citizenAnswer(services, session, helper);
}

/** The one active person of a card that verifies and was not revoked; anything else is the same `qr_invalid`. */
async function holderOf({ store, clock }: Services, home: CitizenTenant, card: ReadCard): Promise<Beneficiary> {
  const verified = verifyCard(card, await listIssuers(store, home.id), clock.now());
  if (await isRevoked(store, home.id, verified.fingerprint)) throw new Fault("qr_invalid", { detail: "revoked" });
  const person = await findPerson(store, home, verified);
  if (!person || person.disabledAt !== null) throw new Fault("qr_invalid", { detail: "nobody's" });
  if (verified.birth && person.birth && contradicts(verified.birth, person.birth)) {
    throw new Fault("qr_invalid", { detail: "another date of birth" });
  }
  return person;
}

async function findPerson(
  store: Services["store"],
  { cipher }: CitizenTenant,
  { issuer, subject }: VerifiedCard,
): Promise<Beneficiary | null> {
  if (issuer.own) {
    const id = await holderOfCard(store, cipher, subject);
    return id === null ? null : findBeneficiary(store, cipher, id);
  }
  if (issuer.options.identifies === "external_id") return findByExternalId(store, cipher, subject);
  const number = canonicalNationalId(subject);
  return number === null ? null : findHolder(store, cipher, "national_id", number);
}

interface Limits {
  /** How often one card signs in. */
  readonly card: Rate;
  /** Failures from one network; null where it is not counted. */
  readonly network: Rate | null;
  readonly all: readonly Rate[];
}

function limitsOf(
  { keyring }: Services,
  home: CitizenTenant,
  caller: CitizenCaller,
  { fingerprint }: ReadCard,
  assisted: boolean,
): Limits {
  const indexKey = keyring.mac("index").secret;
  const { perCard, perNetwork } = home.policy.qr;
  const key = (...parts: string[]) => budgetKey(indexKey, "qr", home.id, ...parts);
  const place = assisted ? null : countedNetwork(caller.address, home.tenant?.settings);
  const card = { key: key("card", fingerprint), subject: "", ...perCard };
  const network = place === null ? null : { key: key("network", place), subject: "", ...perNetwork };
  return { card, network, all: network ? [card, network] : [card] };
}

async function demandOpen({ store }: Services, rate: Rate): Promise<void> {
  const retryAfter = await secondsUntilOpen(store, rate);
  if (retryAfter !== null) throw new Fault("too_many_attempts", { retryAfter });
}

/** A refused card is journalled, and counts against the network it came from. */
async function refusedAs<T>(
  { store }: Services,
  home: CitizenTenant,
  { network }: Limits,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "qr_invalid") throw error;
    await store.transaction(async (tx) => {
      if (network) await spend(tx, network);
      await recordEvent(tx, { tenantId: home.id, type: "qr.failed", data: { reason: error.detail ?? "" } });
    });
    throw error;
  }
}
