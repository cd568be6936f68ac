import { applyInput } from "../people/apply-input.ts";
import type { Beneficiary, BeneficiaryFacts } from "../people/beneficiary.ts";
import { sameFacts } from "../people/beneficiary-rows.ts";
import type { TenantCipher } from "../people/data-keys.ts";
import type { InputRules, PersonInput } from "../people/person-columns.ts";
import type { PeopleChanges } from "../people/write-people.ts";
import { readBeneficiaries } from "../store/beneficiaries.ts";
import { findByExternalIds, findHolders } from "../store/beneficiary-lists.ts";
import { isOneOf } from "../store/bulk.ts";
import type { Queries } from "../store/store.ts";
import { countOpenProposals, pageOfEvents } from "../store/sync-log.ts";
import { openEvent } from "./sync-content.ts";
import { isRejection, type Rejection } from "./sync-event.ts";
import {
  changedIdentifiers,
  hasIdentifier,
  isAboutPerson,
  type ProposedField,
  readPersonData,
  withoutIdentifiers,
} from "./sync-person.ts";

export interface PeopleContext {
  readonly cipher: TenantCipher;
  readonly rules: InputRules;
  /** Whether the author changes identifiers of people who are there already; otherwise that is a proposal. */
  readonly mayChangeIdentifiers: boolean;
  /** A citizen does not learn that somebody else has an identifier, and their name is one: households choose by it. */
  readonly by: "worker" | "citizen";
}

/** What an event with something to say of a person says, by the person. */
export interface PersonMention {
  readonly entityId: string;
  readonly input: PersonInput;
}

interface Person {
  readonly before: Beneficiary | null;
  facts: BeneficiaryFacts;
  active: boolean;
}

/** The people of a batch of events, as the events before have left them. */
export interface PeoplePlan {
  has(entityId: string): boolean;
  /** What becomes of a mention: the fields that only a supervisor can change, or why it is not taken. */
  take(
    mention: PersonMention,
    entity: { readonly known: boolean; readonly deleted: boolean },
  ): Promise<readonly ProposedField[] | Rejection>;
  /** Closes every way in for a person, where there is one; or what waits for a supervisor. */
  remove(entityId: string): Promise<readonly ProposedField[] | Rejection>;
  /** What is to be written, and whose identifiers change. */
  result(): PeopleChanges & { readonly identifiersChanged: readonly Beneficiary[] };
}

const taken = (field: string): Rejection => ({
  code: "identifier_taken",
  message: `Another active person of this tenant has the same ${field}. Find that person, or correct it.`,
});

/** Changes of one person that can wait at a time: a queue that nobody reads any more helps nobody. */
const maxOpenProposals = 20;

/** Reads who is concerned by a batch, once for all of its events. */
export async function planPeople(
  tx: Queries,
  context: PeopleContext,
  ids: readonly string[],
  mentions: readonly PersonMention[],
): Promise<PeoplePlan> {
  const { cipher, rules, by } = context;
  const known = await readBeneficiaries(tx, cipher, ids);
  const people = new Map<string, Person>(
    known.map((before) => [before.id, { before, facts: before, active: before.disabledAt === null }]),
  );
  const numbers = mentions.flatMap(({ input }) => (input.nationalIds ?? []).map(({ number }) => number));
  const holders = new Map(await findHolders(tx, cipher, numbers));
  const externalIds = mentions.flatMap(({ input }) => input.externalId ?? []);
  const owners = new Map<string, string>();
  if (externalIds.length > 0) {
    for (const [externalId, { id }] of await findByExternalIds(tx, cipher, externalIds)) owners.set(externalId, id);
  }
  const foreign = await findForeign(
    tx,
    mentions.map(({ entityId }) => entityId).filter((id) => !people.has(id)),
  );
  /** What this batch said of entities that cannot sign in: they may become people who can. */
  const loose = new Map<string, PersonInput>();
  const identifiersChanged = new Set<string>();
  /** How many changes of a person wait, with those of this batch. */
  const proposals = new Map<string, number>();

  function takenField(id: string, active: boolean, { nationalIds, externalId }: BeneficiaryFacts): string | null {
    const isOthers = (holder: string | undefined) => holder !== undefined && holder !== id;
    if (active && nationalIds.some(({ number }) => isOthers(holders.get(number)))) return "ID number";
    return externalId !== null && isOthers(owners.get(externalId)) ? "external id" : null;
  }

  function hold(id: string, before: BeneficiaryFacts | null, { facts, active }: Person): void {
    for (const { number } of before?.nationalIds ?? []) if (holders.get(number) === id) holders.delete(number);
    if (active) for (const { number } of facts.nationalIds) holders.set(number, id);
    if (before?.externalId && owners.get(before.externalId) === id) owners.delete(before.externalId);
    if (facts.externalId !== null) owners.set(facts.externalId, id);
  }

  async function takeNew({ entityId, input }: PersonMention, entity: { known: boolean; deleted: boolean }) {
    const inBatch = { ...loose.get(entityId), ...input };
    if (!hasIdentifier(input)) {
      loose.set(entityId, inBatch);
      return [];
    }
    if (foreign.has(entityId)) return { code: "forbidden", message: "This entity is not yours to write to." } as const;
    const facts = applyInput(null, { ...(entity.known && (await earlierInput(entityId))), ...inBatch });
    if ("reason" in facts) {
      const message = "The field data.names.given is missing: somebody who can sign in needs a name.";
      return { code: "invalid_event", message } as const;
    }
    const field = takenField(entityId, !entity.deleted, facts);
    if (field !== null) return taken(field);
    const person = { before: null, facts, active: !entity.deleted };
    people.set(entityId, person);
    hold(entityId, null, person);
    return [];
  }

  async function takeKnown({ entityId, input }: PersonMention, person: Person) {
    const before = person.facts;
    const after = applyInput(before, input);
    if ("reason" in after) {
      return { code: "invalid_event", message: "The field data.names.given must not be taken away." } as const;
    }
    const changed = changedIdentifiers(before, after, by);
    const waits = changed.length > 0 && !context.mayChangeIdentifiers;
    const field = takenField(entityId, person.active, after);
    if (changed.length > 0 && field !== null && (by === "worker" || !waits)) return taken(field);
    const full = waits ? await propose(entityId) : null;
    if (full) return full;
    person.facts = waits || changed.length === 0 ? withoutIdentifiers(before, after, by) : after;
    hold(entityId, before, person);
    if (changed.length > 0 && !waits) identifiersChanged.add(entityId);
    return waits ? changed : [];
  }

  /** Counts one more change that waits; or says that there is no room for it. */
  async function propose(entityId: string): Promise<Rejection | null> {
    const count = proposals.get(entityId) ?? (await countOpenProposals(tx, cipher.tenantId, entityId));
    proposals.set(entityId, Math.min(count + 1, maxOpenProposals));
    if (count < maxOpenProposals) return null;
    const message = "Too many changes of this person wait already. A supervisor has to decide about them first.";
    return { code: "too_many_proposals", message };
  }

  return {
    has: (entityId) => people.has(entityId),
    async take(mention, entity) {
      const person = people.get(mention.entityId);
      return person ? takeKnown(mention, person) : takeNew(mention, entity);
    },
    async remove(entityId) {
      const person = people.get(entityId);
      if (!person?.active) return [];
      // It frees the ID number for somebody else, so it is as good as a change of it. Whoever came just now loses nothing.
      if (person.before !== null && !context.mayChangeIdentifiers) return (await propose(entityId)) ?? ["entity"];
      person.active = false;
      hold(entityId, person.facts, person);
      identifiersChanged.add(entityId);
      return [];
    },
    result() {
      const additions = [];
      const changes = [];
      for (const [id, { before, facts, active }] of people) {
        if (before === null) additions.push({ id, facts, active });
        else if (active !== (before.disabledAt === null) || !sameFacts(before, facts)) {
          changes.push({ before, facts, active });
        }
      }
      return { additions, changes, identifiersChanged: known.filter(({ id }) => identifiersChanged.has(id)) };
    },
  };

  /** What earlier events said of somebody who could not sign in until now; read a few at a time, for they may be large. */
  async function earlierInput(entityId: string): Promise<PersonInput> {
    let input: PersonInput = {};
    for (let after = 0; ; ) {
      const part = { tenantId: cipher.tenantId, entityId, after };
      const { rows, more } = await pageOfEvents(tx, part, { events: 100, size: 1024 * 1024 });
      for (const row of rows) {
        const content = openEvent(cipher, row);
        if (!content || !isAboutPerson(content.type)) continue;
        const said = readPersonData(content.data, rules);
        if (!isRejection(said)) input = { ...input, ...said };
      }
      if (!more) return input;
      after = rows.at(-1)?.position ?? after;
    }
  }
}

/** Ids that are taken by people of other tenants: an id names one person in the whole deployment. */
async function findForeign(q: Queries, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await q.db
    .selectFrom("beneficiaries")
    .select("id")
    .where(isOneOf(q, "id", ids))
    .execute();
  return new Set(rows.map((row) => row.id));
}
