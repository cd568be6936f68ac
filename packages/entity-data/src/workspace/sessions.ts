import type { EventStore } from "../events/event-store.ts";
import type { ExternalSession } from "../external/external-sync-manager.ts";
import type { SyncSession } from "../sync/sync-session.ts";
import type { PushResult } from "../sync/wire.ts";
import { toEntity } from "./projection.ts";
import { receive } from "./receive.ts";
import type { Outcome, Workspace } from "./workspace.ts";

interface SessionParts {
  readonly workspace: Workspace;
  readonly events: EventStore;
  readonly deviceId: string;
  readonly onChange: (entityIds: readonly string[]) => void;
}

const stateOf = ({ events, workspace }: SessionParts) => ({
  getState: (name: string) => events.getState(`${name}:${workspace.owner}`),
  setState: (name: string, value: string) => events.setState(`${name}:${workspace.owner}`, value),
});

/** One person's data, as a sync manager sees it. */
export function createSyncSession(parts: SessionParts & { readonly fetch: typeof globalThis.fetch }): SyncSession {
  const { workspace, events, deviceId, fetch, onChange } = parts;
  const { log, owner } = workspace;
  return {
    deviceId,
    fetch,
    ...stateOf(parts),
    countPending: () => events.count("pending", owner),
    async pending(after, limit) {
      return (await log.read({ status: "pending", after, limit })).map(({ event }) => event);
    },
    async settle(sent, results) {
      const entityOf = new Map(sent.map(({ id, entityId }) => [id, entityId]));
      const outcomes = results.map((result) => toOutcome(result, entityOf.get(result.id) ?? ""));
      await workspace.settle(outcomes);
      onChange(outcomes.filter(({ status }) => status === "rejected").map(({ entityId }) => entityId));
    },
    async receive(pulled) {
      onChange(await receive(workspace, pulled));
    },
    async reopen() {
      await reopen(workspace);
    },
  };
}

function toOutcome({ id, status, code, message }: PushResult, entityId: string): Outcome {
  if (status !== "rejected") return { id, entityId, status: "accepted", receipt: null };
  const receipt = { code: code ?? "rejected", ...(message !== undefined && { message }) };
  return { id, entityId, status: "rejected", receipt };
}

/** After a restore of the service: what it had accepted may be gone there, so it is sent again; the service knows what it has. */
async function reopen(workspace: Workspace): Promise<void> {
  const { log, entities } = workspace;
  for (let after = 0; ; ) {
    const page = await log.read({ after, limit: 200 });
    const own = page.filter(({ status }) => status === "accepted" || status === "confirmed");
    await log.settle(own.map(({ event }) => ({ id: event.id, status: "pending", receipt: null })));
    if (page.length === 0) break;
    after = page.at(-1)?.event.sequence ?? after;
  }
  // The versions of before are not those of now: what is confirmed comes anew with the pull.
  for (;;) {
    const ids = (await entities.page(null, 200)).map(({ id }) => id);
    if (ids.length === 0) break;
    for (const id of ids) {
      const others = (await log.ofEntity(id)).filter(({ isOwn }) => !isOwn);
      await log.settle(others.map(({ event }) => ({ id: event.id, status: "accepted", receipt: null })));
    }
    await entities.remove(ids);
  }
  for (let after = 0; ; ) {
    const page = await log.read({ after, limit: 200 });
    if (page.length === 0) break;
    await workspace.rebuild(page.map(({ event }) => event.entityId));
    after = page.at(-1)?.event.sequence ?? after;
  }
}

/** One person's data, as an external sync sees it. */
export function createExternalSession(parts: SessionParts): ExternalSession {
  const { workspace, deviceId } = parts;
  const { log } = workspace;
  return {
    deviceId,
    ...stateOf(parts),
    async changes(after, limit) {
      // A page may hold rejected events alone: then the next one counts.
      for (let from = after; ; ) {
        const page = await log.read({ after: from, limit });
        const wanted = page.filter(({ status }) => status !== "rejected");
        const held = await workspace.entities.get(wanted.map(({ event }) => event.entityId));
        if (wanted.length > 0 || page.length === 0) {
          return wanted.map(({ event }) => {
            const projection = held.get(event.entityId)?.projection;
            return { event, entity: projection ? toEntity(event.entityId, projection) : null };
          });
        }
        from = page.at(-1)?.event.sequence ?? from;
      }
    },
    async note(eventId, system, message) {
      const [opened] = await log.get([eventId]);
      if (!opened) return;
      const external = { ...opened.receipt?.external, [system]: message };
      await log.settle([{ id: eventId, status: opened.status, receipt: { ...opened.receipt, external } }]);
    },
  };
}
