import {
  eventHashPattern,
  eventTypePattern,
  instantPattern,
  maxEventBytes,
  type PushResult,
  type RejectionCode,
  type SyncEvent,
  serverEventTypes,
  uuidPattern,
} from "@fieldgate/contract";
import { isPlainObject } from "../config/bounds.ts";

/** An event that may be looked at further. */
export interface ReadEvent {
  readonly event: SyncEvent;
  /** `event.data` as JSON. */
  readonly dataText: string;
}

/** Why an event is not taken. */
export interface Rejection {
  readonly code: RejectionCode;
  readonly message: string;
}

export const isRejection = (value: object): value is Rejection => "code" in value && "message" in value;

export const rejected = (id: string, { code, message }: Rejection): PushResult => ({
  id,
  status: "rejected",
  code,
  message,
});

const invalid = (message: string): Rejection => ({ code: "invalid_event", message });

const uuid = new RegExp(uuidPattern);
const typeName = new RegExp(eventTypePattern);
const instant = new RegExp(instantPattern);
const hash = new RegExp(eventHashPattern);

const isText = (pattern: RegExp, longest: number) => (value: unknown) =>
  typeof value === "string" && value.length <= longest && pattern.test(value);
const isWhole = (least: number) => (value: unknown) => Number.isSafeInteger(value) && (value as number) >= least;

/** Each field: what it has to be, and the words for it. */
const fields: Readonly<Record<keyof SyncEvent, readonly [(value: unknown) => boolean, string]>> = {
  id: [isText(uuid, 36), "must be a UUID in lower case"],
  entityId: [isText(uuid, 36), "must be a UUID in lower case"],
  type: [isText(typeName, 64), "must be words in lower case with hyphens, such as update-individual, 64 at most"],
  data: [isPlainObject, "must be an object"],
  deviceTime: [
    (value) => isText(instant, 40)(value) && !Number.isNaN(Date.parse(value as string)),
    "must be an instant such as 2026-01-31T09:30:00Z",
  ],
  sequence: [isWhole(1), "must be a whole number from 1"],
  baseVersion: [isWhole(0), "must be a whole number from 0"],
  hash: [(value) => value === undefined || isText(hash, 128)(value), "must be base64url, 128 characters at most"],
};
const checks = Object.entries(fields);

/** Reads one event of a batch, as the schema `SyncEvent` has it. Its id was looked at before. */
export function readEvent(sent: Readonly<Record<string, unknown>>): ReadEvent | Rejection {
  for (const name in sent) {
    if (!Object.hasOwn(fields, name)) return invalid("The event has a field that is not known. Leave it out.");
  }
  for (const [name, [isGood, what]] of checks) {
    if (sent[name] === undefined && name !== "hash") return invalid(`The field ${name} is missing.`);
    if (!isGood(sent[name])) return invalid(`The field ${name} ${what}.`);
  }
  const event = sent as unknown as SyncEvent;
  if ((serverEventTypes as readonly string[]).includes(event.type)) {
    return invalid(`An event of the type ${event.type} is written by the server alone.`);
  }
  const dataText = JSON.stringify(event.data);
  if (dataText.length > maxEventBytes || Buffer.byteLength(dataText) > maxEventBytes) {
    const message = `The field data is larger than ${maxEventBytes / 1024} KiB. Keep photographs and files elsewhere.`;
    return { code: "event_too_large", message };
  }
  return { event, dataText };
}
