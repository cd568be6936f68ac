import type { SyncEvent } from "@fieldgate/contract";
import type { Selectable } from "kysely";
import { tellFormerAddresses } from "../delivery/outbox.ts";
import { Fault } from "../fault.ts";
import { recordEvent } from "../journal/record.ts";
import { applyInput } from "../people/apply-input.ts";
import { disableBeneficiary, updateBeneficiary } from "../people/beneficiaries.ts";
import type { TenantCipher } from "../people/data-keys.ts";
import type { InputRules } from "../people/person-columns.ts";
import { findBeneficiary } from "../store/beneficiaries.ts";
import type { SyncProposalTable } from "../store/schema.ts";
import type { Queries } from "../store/store.ts";
import { findEvents, lockLog } from "../store/sync-log.ts";
import { appendServerEvent } from "./sync-append.ts";
import { type EventContent, openEvent } from "./sync-content.ts";
import { isRejection } from "./sync-event.ts";
import { readPersonData } from "./sync-person.ts";

/** A change of an identifier or a birth date, or a deletion, that waits for a supervisor; it is named by its event. */
export interface Proposal {
  readonly eventId: string;
  readonly entityId: string;
  readonly fields: readonly string[];
  readonly createdAt: number;
}

export interface ProposalContext {
  readonly cipher: TenantCipher;
  readonly rules: InputRules;
  /** Who decides. */
  readonly by: EventContent["author"];
}

const toProposal = (row: Selectable<SyncProposalTable>): Proposal => ({
  eventId: row.event_id,
  entityId: row.entity_id,
  fields: JSON.parse(row.fields) as string[],
  createdAt: row.created_at,
});

/** The proposals of a tenant that wait, the oldest first. */
export async function listProposals(q: Queries, tenantId: string, limit: number): Promise<Proposal[]> {
  const rows = await q.db
    .selectFrom("sync_proposals")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("state", "=", "open")
    .orderBy("created_at")
    .orderBy("event_id")
    .limit(limit)
    .execute();
  return rows.map(toProposal);
}

/** What a proposal would change, as its event says it: personal data. */
export async function proposedData(q: Queries, cipher: TenantCipher, proposal: Proposal): Promise<SyncEvent["data"]> {
  return dataOf(await contentOf(q, cipher, proposal), proposal);
}

/**
 * Carries a proposal out: the person is changed as it says, the addresses they had before are told, and the log tells
 * devices. Throws `identifier_taken`, and leaves the proposal open, where another person has the identifier by now.
 */
export async function acceptProposal(tx: Queries, context: ProposalContext, eventId: string): Promise<Proposal> {
  const { cipher, rules, by } = context;
  const { tenantId } = cipher;
  const head = await lockLog(tx, tenantId);
  const proposal = await decide(tx, tenantId, eventId, "accepted");
  const { entityId, fields } = proposal;
  const content = await contentOf(tx, cipher, proposal);
  const data = dataOf(content, proposal);
  const person = await findBeneficiary(tx, cipher, entityId);
  if (!person) throw refuse(`There is no person ${entityId} any more. Refuse the proposal.`);
  const event = { entityId, type: content.type, data, status: "applied", author: by, proposalId: eventId } as const;
  if (fields.includes("entity")) {
    await disableBeneficiary(tx, person);
    await tellFormerAddresses(tx, cipher, person);
    await appendServerEvent(tx, cipher, event, { deleted_at: head.now });
    await tell(tx, "proposal.accepted", context, proposal);
    return proposal;
  }
  const input = readPersonData(data, rules);
  if (isRejection(input)) throw refuse(`${input.message} Refuse the proposal.`);
  const facts = applyInput(person, input);
  if ("reason" in facts) throw refuse(`${facts.field} ${facts.reason}. Refuse the proposal.`);
  const changed = await updateBeneficiary(tx, { cipher, defaultCountry: rules.defaultCountry }, person, facts);
  if (changed && fields.some((field) => field !== "names")) await tellFormerAddresses(tx, cipher, person);
  await appendServerEvent(tx, cipher, { ...event, type: "update-individual" });
  await tell(tx, "proposal.accepted", context, proposal);
  return proposal;
}

/** Lets a proposal go: nothing changes, and devices are told. */
export async function refuseProposal(tx: Queries, context: ProposalContext, eventId: string): Promise<Proposal> {
  const { cipher, by } = context;
  await lockLog(tx, cipher.tenantId);
  const proposal = await decide(tx, cipher.tenantId, eventId, "refused");
  await appendServerEvent(tx, cipher, {
    ...{ entityId: proposal.entityId, type: "refuse-proposal", data: {}, status: "refused", author: by },
    proposalId: eventId,
  });
  await tell(tx, "proposal.refused", context, proposal);
  return proposal;
}

/** Decides once: whoever comes second is told so. */
async function decide(
  tx: Queries,
  tenantId: string,
  eventId: string,
  state: "accepted" | "refused",
): Promise<Proposal> {
  const row = await tx.db
    .updateTable("sync_proposals")
    .set({ state, decided_at: tx.now })
    .where("tenant_id", "=", tenantId)
    .where("event_id", "=", eventId)
    .where("state", "=", "open")
    .returningAll()
    .executeTakeFirst();
  if (!row) throw refuse(`There is no open proposal "${eventId}". See \`fieldgate proposal list\`.`);
  return toProposal(row);
}

async function contentOf(q: Queries, cipher: TenantCipher, { eventId }: Proposal): Promise<EventContent> {
  const [row] = await findEvents(q, cipher.tenantId, [eventId]);
  const content = row && openEvent(cipher, row);
  if (!content) throw refuse("What it proposed was erased.");
  return content;
}

const dataOf = ({ data }: EventContent, { fields }: Proposal): SyncEvent["data"] =>
  Object.fromEntries(Object.entries(data).filter(([name]) => fields.includes(name)));

const refuse = (message: string) => new Fault("invalid_request", { field: "proposal", message });

async function tell(
  tx: Queries,
  type: "proposal.accepted" | "proposal.refused",
  { cipher, by }: ProposalContext,
  { eventId, entityId, fields }: Proposal,
): Promise<void> {
  const data = { event: eventId, fields: fields.join(" "), by: by.userId };
  await recordEvent(tx, { tenantId: cipher.tenantId, type, subject: entityId, data });
}
