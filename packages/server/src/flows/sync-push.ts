import type { PushResult } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import type { TenantCipher } from "../people/data-keys.ts";
import type { Tenant } from "../people/tenants.ts";
import { findWorkerById } from "../people/workers.ts";
import { Outdated } from "../people/write-people.ts";
import type { Services } from "../services.ts";
import { spend } from "../store/budgets.ts";
import { type Queries, StoreUnavailable } from "../store/store.ts";
import { findEntities, findEvents, lockLog } from "../store/sync-log.ts";
import { isUniqueViolation } from "../store/unique-violation.ts";
import { budgetKey } from "../tokens/index-key.ts";
import type { SyncCaller } from "./sync-caller.ts";
import type { Author } from "./sync-content.ts";
import { isRejection, type ReadEvent, readEvent, rejected } from "./sync-event.ts";
import { type PersonMention, planPeople } from "./sync-people.ts";
import { isAboutPerson, readPersonData } from "./sync-person.ts";
import { decideEvents } from "./sync-rules.ts";
import { writeDecisions } from "./sync-write.ts";

/** One event of a batch as it came. */
export interface SentEvent {
  readonly event: { readonly id: string };
  /** What was wrong with its JSON, where something was. */
  readonly problem: string | null;
}

export interface Push {
  /** What the device calls itself: kept for the audit, and not relied upon. */
  readonly claimedDevice: string;
  readonly events: readonly SentEvent[];
}

const tries = 5;

/**
 * Takes a batch of events, each for itself: the results say which were taken, which were there already, and which cannot
 * be taken and why. All that were taken are in the database for good when it returns, or none are and it throws.
 */
export async function pushEvents(services: Services, caller: SyncCaller, push: Push): Promise<PushResult[]> {
  const read = push.events.map(({ event, problem }) =>
    problem === null
      ? readEvent(event as unknown as Record<string, unknown>)
      : { code: "invalid_event" as const, message: problem },
  );
  const good = read.flatMap((each) => (isRejection(each) ? [] : [each]));
  const taken = good.length === 0 ? [] : await takeEvents(services, caller, push.claimedDevice, good);
  let next = 0;
  return push.events.map(({ event }, index) => {
    const each = read[index];
    return each && isRejection(each) ? rejected(event.id, each) : (taken[next++] as PushResult);
  });
}

async function takeEvents(
  services: Services,
  caller: SyncCaller,
  claimedDevice: string,
  events: readonly ReadEvent[],
): Promise<PushResult[]> {
  const { store, tenants, dataKeys } = services;
  const tenant = await tenants.find(caller.tenantId);
  if (!tenant || tenant.disabledAt !== null) throw new Fault("invalid_token", { detail: "no such tenant" });
  const cipher = await dataKeys.cipher(caller.tenantId);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await store.transaction((tx) =>
        takeInTransaction(tx, services, { caller, claimedDevice, events, tenant, cipher }),
      );
    } catch (error) {
      // Someone was added or changed beside us, by an import or a command: look again.
      if (!(error instanceof Outdated) && !isUniqueViolation(error)) throw error;
      if (attempt === tries) throw new StoreUnavailable("Others were in the way of a push.", { cause: error });
    }
  }
}

interface Batch {
  readonly caller: SyncCaller;
  readonly claimedDevice: string;
  readonly events: readonly ReadEvent[];
  readonly tenant: Tenant;
  readonly cipher: TenantCipher;
}

async function takeInTransaction(tx: Queries, services: Services, batch: Batch): Promise<PushResult[]> {
  const { caller, events, tenant, cipher } = batch;
  await payForPush(tx, services, caller);
  const head = await lockLog(tx, caller.tenantId);
  const known = await findEvents(
    tx,
    caller.tenantId,
    events.map(({ event }) => event.id),
  );
  const entities = await findEntities(tx, caller.tenantId, [...new Set(events.map(({ event }) => event.entityId))]);
  const rules = {
    defaultCountry: tenant.settings.defaultCountry,
    nationalId: tenant.settings.nationalId,
    now: head.now,
  };
  const inputs = new Map(
    events.flatMap(({ event }) =>
      isAboutPerson(event.type) ? [[event, readPersonData(event.data, rules)] as const] : [],
    ),
  );
  const mentions = [...inputs].flatMap(([{ entityId }, input]): PersonMention[] =>
    isRejection(input) ? [] : [{ entityId, input }],
  );
  const peopleIds = events.filter(({ event }) => inputs.has(event) || event.type === "delete-entity");
  const people = await planPeople(
    tx,
    {
      ...{ cipher, rules, by: caller.ownEntity === null ? "worker" : "citizen" },
      mayChangeIdentifiers: await mayChangeIdentifiers(tx, tenant, caller),
    },
    [...new Set(peopleIds.map(({ event }) => event.entityId))],
    mentions,
  );
  const decisions = await decideEvents({ caller, cipher, events, known, entities, inputs, people, now: head.now });
  const assistedBy = await helperOf(tx, caller);
  await writeDecisions(tx, { ...batch, assistedBy, head, decisions, people: people.result() });
  return decisions.results;
}

async function payForPush(tx: Queries, { keyring, config }: Services, caller: SyncCaller): Promise<void> {
  const key = budgetKey(keyring.mac("index").secret, "sync-push", caller.tenantId, caller.sessionId);
  const retryAfter = await spend(tx, { key, subject: "", ...config.policy.sync.perSession });
  if (retryAfter !== null) throw new Fault("rate_limited", { retryAfter });
}

/** The worker who helped the author to sign in, by name. */
async function helperOf(tx: Queries, { tenantId, helperId }: SyncCaller): Promise<Author | null> {
  if (helperId === null) return null;
  const worker = await findWorkerById(tx, tenantId, helperId);
  return { userId: helperId, username: worker?.username ?? "" };
}

async function mayChangeIdentifiers(tx: Queries, tenant: Tenant, caller: SyncCaller): Promise<boolean> {
  if (caller.ownEntity !== null || tenant.settings.sync?.identifierChanges !== "supervisors") return false;
  const worker = await findWorkerById(tx, tenant.id, caller.userId);
  return worker?.roles.some((role) => role === "supervisor" || role === "admin") ?? false;
}
