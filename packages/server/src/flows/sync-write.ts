import type { SyncEvent } from "@fieldgate/contract";
import { tellFormerAddresses } from "../delivery/outbox.ts";
import { recordEvent } from "../journal/record.ts";
import type { Beneficiary } from "../people/beneficiary.ts";
import type { TenantCipher } from "../people/data-keys.ts";
import { type PeopleChanges, sealPeople, writePeople } from "../people/write-people.ts";
import { insertMany } from "../store/bulk.ts";
import { endSessions } from "../store/sessions.ts";
import type { Queries } from "../store/store.ts";
import { appendRows, type LogHead, saveEntities } from "../store/sync-log.ts";
import type { SyncCaller } from "./sync-caller.ts";
import { type Author, eventRow, type NewEvent } from "./sync-content.ts";
import type { ReadEvent } from "./sync-event.ts";
import type { Decisions } from "./sync-rules.ts";

export interface Writing {
  readonly caller: SyncCaller;
  readonly claimedDevice: string;
  readonly assistedBy: Author | null;
  /** The events as they are sealed where nothing stands in their way. */
  readonly sealed: ReadonlyMap<SyncEvent, string>;
  readonly cipher: TenantCipher;
  readonly head: LogHead;
  readonly decisions: Decisions;
  readonly people: PeopleChanges & { readonly identifiersChanged: readonly Beneficiary[] };
}

/** What is sealed of an event that holds as it is. */
export function wordsOf(
  { caller, claimedDevice, assistedBy }: Pick<Writing, "caller" | "claimedDevice" | "assistedBy">,
  { event, dataText }: ReadEvent,
): Omit<NewEvent, "version" | "position" | "receivedAt"> {
  const { id, entityId, type, deviceTime, sequence, baseVersion, hash } = event;
  const { userId, username, deviceId } = caller;
  return {
    ...{ id, entityId, type, deviceTime, sequence, baseVersion, ...(hash !== undefined && { hash }) },
    ...{ status: "applied", author: { userId, username }, deviceId, claimedDevice, dataText },
    ...(assistedBy && { assistedBy }),
  };
}

/** Writes what was decided: the events behind the head of the log, their entities, the people, and what waits. */
export async function writeDecisions(tx: Queries, writing: Writing): Promise<void> {
  const { caller, assistedBy, cipher, head, decisions } = writing;
  const { tenantId, userId } = caller;
  await appendRows(
    tx,
    decisions.taken.map((taken, index) => {
      const { version, status, proposed } = taken;
      const place = { version, position: head.position + 1 + index, receivedAt: head.now };
      if (status === "applied")
        return eventRow(cipher, { ...wordsOf(writing, taken), ...place }, writing.sealed.get(taken.event));
      const content = { ...wordsOf(writing, taken), status, ...(proposed.length > 0 && { proposed }) };
      return eventRow(cipher, { ...content, ...place });
    }),
  );
  await saveEntities(tx, decisions.entities);
  await writePeople(tx, sealPeople(cipher, writing.people), head.now);
  for (const before of writing.people.identifiersChanged) await tellFormerAddresses(tx, cipher, before);
  await tellJournal(tx, writing);

  const proposals = decisions.taken.filter(({ proposed }) => proposed.length > 0);
  await insertMany(
    tx,
    "sync_proposals",
    ["tenant_id", "event_id", "entity_id", "fields", "state", "created_at", "decided_at"],
    proposals.map(({ event, proposed }) => ({
      tenant_id: tenantId,
      event_id: event.id,
      entity_id: event.entityId,
      fields: JSON.stringify(proposed),
      state: "open",
      created_at: head.now,
      decided_at: null,
    })),
  );
  for (const { event, proposed } of proposals) {
    await recordEvent(tx, {
      tenantId,
      type: "proposal.made",
      subject: event.entityId,
      sessionId: caller.sessionId,
      data: {
        event: event.id,
        fields: proposed.join(" "),
        by: userId,
        ...(assistedBy && { assistedBy: assistedBy.userId }),
      },
    });
  }
}

/** One event for all that were added, one for all that were changed, with their ids; ways in closed one by one. */
async function tellJournal(tx: Queries, { caller, people }: Writing): Promise<void> {
  const { tenantId, userId, sessionId } = caller;
  const tell = async (type: "beneficiary.added" | "beneficiary.changed", ids: readonly string[]) => {
    if (ids.length === 0) return;
    const data = { by: userId, count: ids.length, ids: ids.join(" ") };
    await recordEvent(tx, { tenantId, type, sessionId, data });
  };
  await tell(
    "beneficiary.added",
    people.additions.map(({ id }) => id),
  );
  await tell(
    "beneficiary.changed",
    people.changes.map(({ before }) => before.id),
  );
  for (const { before, active } of people.changes) {
    if (active || before.disabledAt !== null) continue;
    await endSessions(tx, { tenantId, userId: before.id }, "user_disabled");
    await recordEvent(tx, { tenantId, type: "beneficiary.disabled", subject: before.id, data: { by: userId } });
  }
}
