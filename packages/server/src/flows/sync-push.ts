import type { PushResult, SyncEvent } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import type { TenantCipher } from "../people/data-keys.ts";
import type { InputRules, PersonInput } from "../people/person-columns.ts";
import type { Tenant } from "../people/tenants.ts";
import { findWorkerById } from "../people/workers.ts";
import { Outdated } from "../people/write-people.ts";
import type { Services } from "../services.ts";
import { type Queries, StoreUnavailable } from "../store/store.ts";
import { findEntities, findEvents, lockLog } from "../store/sync-log.ts";
import { isUniqueViolation } from "../store/unique-violation.ts";
import { demandAllowance, payForPush, takenAnswers } from "./sync-budgets.ts";
import type { SyncCaller } from "./sync-caller.ts";
import { type Author, sealEvent } from "./sync-content.ts";
import { isRejection, type ReadEvent, type Rejection, readEvent, rejected } from "./sync-event.ts";
import { type PersonMention, planPeople } from "./sync-people.ts";
import { isAboutPerson, readPersonData } from "./sync-person.ts";
import { decideEvents } from "./sync-rules.ts";
import { inSlices } from "./sync-turns.ts";
import { type Writing, wordsOf, writeDecisions } from "./sync-write.ts";

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
  await demandAllowance(services, caller);
  const read = await inSlices(push.events, ({ event, problem }) =>
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
  const { store, clock, tenants, dataKeys } = services;
  const tenant = await tenants.find(caller.tenantId);
  if (!tenant || tenant.disabledAt !== null) throw new Fault("invalid_token", { detail: "no such tenant" });
  const cipher = await dataKeys.cipher(caller.tenantId);
  const { defaultCountry, nationalId } = tenant.settings;
  const rules = { defaultCountry, nationalId, now: clock.now() };
  // All that costs time and needs no transaction is done before it, a few at a time: in one nobody else has a turn.
  const inputs = new Map<SyncEvent, PersonInput | Rejection>();
  await inSlices(events, ({ event }) => {
    if (isAboutPerson(event.type)) inputs.set(event, readPersonData(event.data, rules));
  });
  const author = { caller, claimedDevice, assistedBy: await helperOf(store, caller) };
  const texts = await inSlices(events, (read) => [read.event, sealEvent(cipher, wordsOf(author, read))] as const);
  const sealed = new Map(texts);
  const batch = { ...author, events, tenant, cipher, rules, inputs, sealed };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await store.transaction((tx) => takeInTransaction(tx, services, batch));
    } catch (error) {
      // Someone was added or changed beside us, by an import or a command: look again.
      if (!(error instanceof Outdated) && !isUniqueViolation(error)) throw error;
      if (attempt === tries) throw new StoreUnavailable("Others were in the way of a push.", { cause: error });
    }
  }
}

interface Batch extends Pick<Writing, "caller" | "claimedDevice" | "assistedBy" | "sealed"> {
  readonly rules: InputRules;
  /** What the events say of people. */
  readonly inputs: ReadonlyMap<SyncEvent, PersonInput | Rejection>;
  readonly events: readonly ReadEvent[];
  readonly tenant: Tenant;
  readonly cipher: TenantCipher;
}

async function takeInTransaction(tx: Queries, services: Services, batch: Batch): Promise<PushResult[]> {
  const { caller, events, tenant, cipher, rules, inputs } = batch;
  await payForPush(tx, services, caller, events);
  const head = await lockLog(tx, caller.tenantId);
  const known = await findEvents(
    tx,
    caller.tenantId,
    events.map(({ event }) => event.id),
  );
  const entities = await findEntities(tx, caller.tenantId, [...new Set(events.map(({ event }) => event.entityId))]);
  const mentions = [...inputs].flatMap(([{ entityId }, input]): PersonMention[] =>
    isRejection(input) ? [] : [{ entityId, input }],
  );
  const answers = takenAnswers(services, caller);
  if (mentions.some(({ input }) => input.nationalIds?.length || input.externalId)) await answers.demandRoom(tx);
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
  await answers.count(tx, decisions.results.filter(({ code }) => code === "identifier_taken").length);
  await writeDecisions(tx, { ...batch, head, decisions, people: people.result() });
  return decisions.results;
}

/** The worker who helped the author to sign in, by name. */
async function helperOf(q: Queries, { tenantId, helperId }: SyncCaller): Promise<Author | null> {
  if (helperId === null) return null;
  const worker = await findWorkerById(q, tenantId, helperId);
  return { userId: helperId, username: worker?.username ?? "" };
}

async function mayChangeIdentifiers(tx: Queries, tenant: Tenant, caller: SyncCaller): Promise<boolean> {
  if (caller.ownEntity !== null || tenant.settings.sync?.identifierChanges !== "supervisors") return false;
  const worker = await findWorkerById(tx, tenant.id, caller.userId);
  return worker?.roles.some((role) => role === "supervisor" || role === "admin") ?? false;
}
