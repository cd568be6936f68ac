import { defaultPullEvents, maxPullEvents, type SyncPullResponse } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import type { Services } from "../services.ts";
import { findEpoch, pageOfEvents } from "../store/sync-log.ts";
import type { SyncCaller } from "./sync-caller.ts";
import { openEvent, toCitizensEvent, toPulledEvent } from "./sync-content.ts";
import { inSlices } from "./sync-turns.ts";

export interface PullInput {
  readonly cursor?: string | undefined;
  readonly limit?: string | undefined;
}

/** Characters of sealed events in a page, beyond which it ends. */
const pageSize = 1024 * 1024;

/** A page of the log behind a cursor: of all entities for a worker, of their own for a citizen. */
export async function pullEvents(
  { store, dataKeys }: Services,
  { tenantId, ownEntity }: SyncCaller,
  { cursor = "", limit }: PullInput,
): Promise<SyncPullResponse> {
  const from = readCursor(cursor);
  const events = readLimit(limit);
  const epoch = (await findEpoch(store, tenantId)) ?? "";
  // A cursor of another log, or of this one before it was restored, says nothing of this one: begin anew.
  const after = from !== null && from.epoch === epoch ? from.position : 0;
  const part = { tenantId, entityId: ownEntity, after };
  const { rows, more } = await pageOfEvents(store, part, { events, size: pageSize });
  const cipher = await dataKeys.cipher(tenantId);
  const toEvent = ownEntity === null ? toPulledEvent : toCitizensEvent;
  const opened = await inSlices(rows, (row) => {
    const content = openEvent(cipher, row);
    return content ? [toEvent(row, content)] : [];
  });
  return {
    events: opened.flat(),
    cursor: epoch === "" ? "" : `${epoch}.${rows.at(-1)?.position ?? after}`,
    more,
    epoch,
  };
}

const cursorForm = /^([A-Za-z0-9_-]{12})\.(0|[1-9]\d{0,14})$/;

function readCursor(text: string): { readonly epoch: string; readonly position: number } | null {
  if (text === "") return null;
  const [, epoch, position] = cursorForm.exec(text) ?? [];
  if (epoch === undefined) {
    throw new Fault("invalid_request", {
      field: "cursor",
      message: "cursor must be the one of an earlier answer, as it was; leave it out to begin.",
    });
  }
  return { epoch, position: Number(position) };
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return defaultPullEvents;
  const limit = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > maxPullEvents) {
    throw new Fault("invalid_request", {
      field: "limit",
      message: `limit must be a whole number from 1 to ${maxPullEvents}.`,
    });
  }
  return limit;
}
