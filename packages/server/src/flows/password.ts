import type { Session } from "@fieldgate/contract";
import type { Policy } from "../config/policy.ts";
import { Fault } from "../fault.ts";
import { deploymentTenant } from "../journal/event.ts";
import { recordEvent } from "../journal/record.ts";
import { findWorker, foldUsername, storeRehash, type Worker } from "../people/workers.ts";
import type { Services } from "../services.ts";
import { type Budget, type Rate, secondsUntilOpen, settleFailure, settleSuccess, spend } from "../store/budgets.ts";
import type { SessionRecord } from "../store/sessions.ts";
import { StoreUnavailable } from "../store/store.ts";
import type { DpopProof } from "../tokens/dpop-proof.ts";
import { networkMark } from "../tokens/index-key.ts";
import { releasedOnError, takeAttempt } from "./attempt.ts";
import { passwordBudgets, placeRate } from "./password-budgets.ts";
import { demandTurn, passwordOrigin } from "./password-origin.ts";
import { sessionAnswer } from "./session-answer.ts";
import { startWorkerSession } from "./start-session.ts";

export interface PasswordSignIn {
  /** It need not exist: an unknown tenant answers like an unknown user. */
  readonly tenantId: string;
  readonly username: string;
  readonly password: string;
  readonly address: string;
  readonly deviceToken: string | null;
  readonly proof: DpopProof | null;
}

const mostPasswordBytes = 1024;

/** Signs a worker in. Whoever it is and whatever is wrong, a refusal takes the same steps and says the same. */
export async function signInWithPassword(services: Services, request: PasswordSignIn): Promise<Session> {
  const { store, hasher, keyring, tenants } = services;
  if (Buffer.byteLength(request.password) > mostPasswordBytes) {
    throw new Fault("invalid_request", { field: "password", message: "password is longer than 1,024 bytes." });
  }
  const tenant = await tenants.find(request.tenantId);
  demandTurn(services, tenant, request);
  const policy = await tenants.policy(request.tenantId);
  if (!request.proof && !policy.sessions.allowPlain) throw new Fault("dpop_required");

  const worker = await findWorker(store, request.tenantId, request.username);
  const origin = await passwordOrigin(services, tenant, worker, request);
  hasher.demandRoom(origin.lane);
  const indexKey = keyring.mac("index").secret;
  const attempt: Attempt = {
    tenantId: tenant ? tenant.id : deploymentTenant,
    worker,
    deviceId: origin.deviceId,
    policy,
    mark: networkMark(indexKey, origin.network),
    budgets: passwordBudgets(indexKey, policy.password, {
      tenantId: tenant ? tenant.id : deploymentTenant,
      usernameKey: foldUsername(request.username),
      origin,
    }),
    place: placeRate(indexKey, policy.password, tenant ? tenant.id : deploymentTenant, origin),
  };

  const retryAfter = attempt.place && (await secondsUntilOpen(store, attempt.place));
  if (retryAfter !== null) throw new Fault("too_many_attempts", { retryAfter });
  await takeAttempt(services, attempt.budgets);
  const usable = worker && worker.disabledAt === null && tenant?.disabledAt === null ? worker : null;
  const session = await releasedOnError(services, attempt.budgets, async () => {
    const matches = await hasher.verify(usable?.passwordHash ?? null, request.password, origin.lane);
    return usable && matches ? storeSignIn(services, attempt, usable, request.proof) : null;
  });
  if (!session || !usable) {
    await storeFailure(services, attempt);
    throw new Fault("invalid_credentials");
  }
  await upgradeHash(services, usable, request.password);
  return sessionAnswer(services, session);
}

interface Attempt {
  readonly tenantId: string;
  readonly worker: Worker | null;
  readonly deviceId: string | null;
  readonly policy: Policy;
  readonly mark: string;
  readonly budgets: readonly Budget[];
  /** Failures where it comes from; null where they are not counted. */
  readonly place: Rate | null;
}

/** Null when the credential changed while it was being checked. */
async function storeSignIn(
  services: Services,
  { budgets, deviceId, policy, mark }: Attempt,
  worker: Worker,
  proof: DpopProof | null,
): Promise<SessionRecord | null> {
  return services.store.transaction(async (tx) => {
    const session = await startWorkerSession(services, tx, {
      worker,
      provider: "password",
      amr: ["pwd"],
      acr: "substantial",
      proof,
      deviceId,
      policy,
    });
    if (!session) return null;
    await settleSuccess(tx, budgets);
    await recordEvent(tx, {
      tenantId: worker.tenantId,
      type: "login.succeeded",
      subject: worker.id,
      sessionId: session.id,
      data: { way: "password", bound: proof !== null, network: mark },
    });
    return session;
  });
}

async function storeFailure({ store }: Services, attempt: Attempt): Promise<void> {
  const { tenantId, worker, budgets, place, mark } = attempt;
  await store.transaction(async (tx) => {
    const closed = await settleFailure(tx, budgets);
    if (place) await spend(tx, place);
    const event = { tenantId, subject: worker?.id, data: { way: "password", network: mark } };
    await recordEvent(tx, { ...event, type: "login.failed" });
    if (closed) await recordEvent(tx, { ...event, type: "login.blocked" });
  });
}

/** The person is signed in already: when there is no time for it, or no database, the next sign-in does it. */
async function upgradeHash({ store, hasher }: Services, worker: Worker, password: string): Promise<void> {
  if (worker.passwordHash === null || !hasher.needsUpgrade(worker.passwordHash)) return;
  try {
    const stronger = await hasher.hash(password);
    await store.transaction((tx) => storeRehash(tx, worker, stronger));
  } catch (error) {
    if (!(error instanceof Fault) && !(error instanceof StoreUnavailable)) throw error;
  }
}
