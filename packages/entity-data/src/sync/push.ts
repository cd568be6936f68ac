import { EntityDataError } from "../errors.ts";
import type { EntityEvent } from "../events/event.ts";
import type { RejectedEvent } from "./progress.ts";
import { Unwelcome } from "./request.ts";
import { Unanswered } from "./retry.ts";
import type { SyncSession } from "./sync-session.ts";
import type { PushResult, SyncEvent, SyncPushResponse } from "./wire.ts";

export interface PushLimits {
  /** Most events and most bytes of a batch. */
  readonly batchEvents: number;
  readonly batchBytes: number;
  /** Most bytes of one event's data as JSON: the service takes no larger ones. */
  readonly eventBytes: number;
}

export interface PushParts {
  readonly session: SyncSession;
  readonly limits: PushLimits;
  /**
   * Sends a batch of so many events, as JSON. Rejects with `Unwelcome` where it is not taken as a whole, and with a slow
   * `Unanswered` where it may get through in parts.
   */
  readonly send: (body: string, count: number) => Promise<SyncPushResponse>;
  readonly onSettled: (count: number) => void;
  readonly signal: AbortSignal;
}

export interface Pushed {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly RejectedEvent[];
}

/** An event as it is sent: as text, so that it is measured and sent without being written twice. */
interface Parcel {
  readonly event: EntityEvent;
  readonly text: string;
  readonly bytes: number;
}

interface Batch {
  readonly parcels: readonly Parcel[];
  /** Those that the service would not take. */
  readonly tooLarge: readonly EntityEvent[];
  readonly lastSequence: number;
}

const encoder = new TextEncoder();
const isAscii = /^[\0-\x7f]*$/;
const bytesOf = (text: string): number => (isAscii.test(text) ? text.length : encoder.encode(text).length);

/** Events that are opened at once: few at first, for they may be large. */
const [firstPage, laterPage] = [50, 200];
const smallEvent = 4096;

/**
 * Sends everything that is pending, in its order. While one batch is on its way, the next is opened and the results of the last are
 * stored: what is cut off before they are is sent again, and the service knows it.
 */
export async function push(given: PushParts): Promise<Pushed> {
  const parts = { ...given, limits: { ...given.limits } };
  const total = { accepted: 0, duplicates: 0, rejected: [] as RejectedEvent[] };
  let settled: Promise<void> = Promise.resolve();
  const note = async (events: readonly EntityEvent[], results: readonly PushResult[]) => {
    await settled;
    settled = parts.session.settle(events, results).then(() => {
      for (const { id, status, code = "rejected", message = "" } of results) {
        if (status === "accepted") total.accepted++;
        else if (status === "duplicate") total.duplicates++;
        else total.rejected.push({ id, code, message });
      }
      parts.onSettled(results.length);
    });
    // It is waited for before the next, and in the end.
    settled.catch(() => 0);
  };
  try {
    await pushAll(parts, note);
  } finally {
    await settled;
  }
  return total;
}

type Note = (events: readonly EntityEvent[], results: readonly PushResult[]) => Promise<void>;

async function pushAll(parts: PushParts & { limits: PushLimits }, note: Note): Promise<void> {
  let next = gather(parts, 0);
  for (;;) {
    const { parcels, tooLarge, lastSequence } = await next;
    if (parcels.length + tooLarge.length === 0) return;
    next = gather(parts, lastSequence);
    // It is waited for in the next round, if there is one.
    next.catch(() => 0);
    if (tooLarge.length > 0)
      await note(
        tooLarge,
        tooLarge.map((event) => refusal(event, parts.limits)),
      );
    if (parcels.length > 0) await deliver(parts, parcels, note);
    parts.signal.throwIfAborted();
  }
}

/** Sends a batch; where the service does not take it as a whole, its halves, until the one that spoils it stands alone. */
async function deliver(
  parts: PushParts & { limits: PushLimits },
  parcels: readonly Parcel[],
  note: Note,
): Promise<void> {
  const events = parcels.map(({ event }) => event);
  const half = Math.ceil(parcels.length / 2);
  const deliverHalves = async () => {
    await deliver(parts, parcels.slice(0, half), note);
    await deliver(parts, parcels.slice(half), note);
  };
  if (parcels.length > parts.limits.batchEvents) return deliverHalves();
  try {
    const { results } = await parts.send(toBody(parts.session.deviceId, parcels), parcels.length);
    await note(events, matchResults(events, results));
  } catch (error) {
    const isSlow = error instanceof Unanswered && error.isSlow;
    if (!isSlow && !(error instanceof Unwelcome)) throw error;
    const [only] = events;
    if (only && events.length === 1) {
      const { code, message } = error as Unwelcome;
      return note([only], [{ id: only.id, status: "rejected", code: code as PushResult["code"] & string, message }]);
    }
    // What the network cannot carry now it will not carry with the next batch either.
    if (isSlow) parts.limits = { ...parts.limits, batchEvents: half };
    await deliverHalves();
  }
}

/** The next events, as many as go into a batch. */
async function gather({ session, limits }: PushParts, after: number): Promise<Batch> {
  const parcels: Parcel[] = [];
  const tooLarge: EntityEvent[] = [];
  let bytes = frameBytes(session.deviceId);
  let lastSequence = after;
  // What is too large for the service is large here too: a few of them are enough at once.
  while (parcels.length < limits.batchEvents && tooLarge.length < 10) {
    const isSmall = parcels.length > 0 && bytes / parcels.length < smallEvent;
    const room = limits.batchEvents - parcels.length;
    const page = await session.pending(lastSequence, Math.min(room, isSmall ? laterPage : firstPage));
    for (const event of page) {
      const parcel = toParcel(event);
      if (parcel.bytes > limits.eventBytes && bytesOf(JSON.stringify(event.data)) > limits.eventBytes) {
        tooLarge.push(event);
      } else if (parcels.length > 0 && bytes + parcel.bytes + 1 > limits.batchBytes) {
        return { parcels, tooLarge, lastSequence };
      } else {
        parcels.push(parcel);
        bytes += parcel.bytes + 1;
      }
      lastSequence = event.sequence;
    }
    if (page.length === 0) break;
  }
  return { parcels, tooLarge, lastSequence };
}

function toParcel(event: EntityEvent): Parcel {
  const { id, entityId, type, data, deviceTime, sequence, baseVersion, hash } = event;
  const wire: SyncEvent = { id, entityId, type, data, deviceTime, sequence, baseVersion, ...(hash && { hash }) };
  const text = JSON.stringify(wire);
  return { event, text, bytes: bytesOf(text) };
}

const toBody = (deviceId: string, parcels: readonly Parcel[]): string =>
  `{"deviceId":${JSON.stringify(deviceId)},"events":[${parcels.map(({ text }) => text).join(",")}]}`;

const frameBytes = (deviceId: string): number => bytesOf(toBody(deviceId, []));

function refusal({ id }: EntityEvent, { eventBytes }: PushLimits): PushResult {
  const message = `The form is larger than ${eventBytes / 1024} KiB, which is more than the service takes.`;
  return { id, status: "rejected", code: "event_too_large", message };
}

/** The result of each event. An answer that leaves one out is not the service's. */
function matchResults(events: readonly EntityEvent[], results: readonly PushResult[]): PushResult[] {
  const byId = new Map((Array.isArray(results) ? results : []).map((result: PushResult) => [result.id, result]));
  return events.map(({ id }) => {
    const result = byId.get(id);
    if (result) return result;
    throw new EntityDataError("refused", "The service answered without a word on some events. Sync again later.");
  });
}
