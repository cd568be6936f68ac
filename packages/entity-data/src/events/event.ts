import { EntityDataError } from "../errors.ts";
import type { JsonObject } from "../json.ts";

/** What somebody fills in. */
export interface Form {
  /** What happened: `create-individual`, `add-member`, or a type of your own. Lower-case words with hyphens, at most 64 letters. */
  readonly type: string;
  readonly data: JsonObject;
  /** Whom it is about; a new entity by default. */
  readonly entityId?: string;
  /** The version of the entity that the author saw; the latest one here by default. */
  readonly baseVersion?: number;
  /** A UUID. Give one to make a submission safe to repeat. */
  readonly id?: string;
}

/** Who wrote an event. The service stamps its own knowledge on what it receives; before that it is this device's. */
export interface Author {
  readonly userId?: string;
  readonly username: string;
}

/** One thing that happened to an entity. It never changes. */
export interface EntityEvent {
  readonly id: string;
  readonly entityId: string;
  readonly type: string;
  readonly data: JsonObject;
  /** Null until somebody who signs in adopts it. */
  readonly author: Author | null;
  /** When, by the clock of the author's device, which may be wrong. */
  readonly deviceTime: string;
  /** Its place among the events that this person wrote on that device, from 1. */
  readonly sequence: number;
  readonly baseVersion: number;
  /** Links it to the event before, see `hash-chain.ts`. */
  readonly hash?: string | undefined;
}

/** What the service says about an event. */
export interface Receipt {
  /** The entity's version after it. */
  readonly version?: number;
  /** How the service took it: `applied`, or why it did not become part of the entity. */
  readonly status?: string;
  /** Fields of it that wait for a supervisor, or were refused: they are not part of the entity. */
  readonly withheld?: readonly string[];
  /** The event whose waiting fields this one accepts or refuses. */
  readonly proposalId?: string;
  /** The worker with whose help the author, a citizen, was signed in. */
  readonly assistedBy?: Author;
  readonly deviceId?: string;
  readonly receivedAt?: string;
  /** Why it was rejected. */
  readonly code?: string;
  readonly message?: string;
  /** Why another system, by its name, did not take it. */
  readonly external?: Readonly<Record<string, string>>;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const kebab = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/** A form with every field it may leave out. Data is copied: what the caller does with theirs later changes nothing. */
export function checkForm(form: Form): Required<Omit<Form, "baseVersion">> & Pick<Form, "baseVersion"> {
  const wrong = (field: string, message: string) =>
    new EntityDataError("invalid_event", `${field} ${message}`, { field });
  if (typeof form !== "object" || form === null) throw wrong("form", "must be an object such as { type, data }.");
  const { type, id = crypto.randomUUID(), entityId = crypto.randomUUID(), baseVersion } = form;
  if (typeof type !== "string" || type.length > 64 || !kebab.test(type)) {
    throw wrong("type", `must be lower-case words with hyphens, at most 64 letters, not ${JSON.stringify(type)}.`);
  }
  for (const [field, value] of Object.entries({ id, entityId })) {
    if (typeof value !== "string" || !uuid.test(value)) {
      throw wrong(field, `must be a UUID in lower case, not ${JSON.stringify(value)}.`);
    }
  }
  if (baseVersion !== undefined && (!Number.isInteger(baseVersion) || baseVersion < 0)) {
    throw wrong("baseVersion", `must be a whole number from 0, not ${JSON.stringify(baseVersion)}.`);
  }
  return { type, id, entityId, data: copyData(form.data, wrong), ...(baseVersion !== undefined && { baseVersion }) };
}

function copyData(data: JsonObject, wrong: (field: string, message: string) => EntityDataError): JsonObject {
  if (typeof data !== "object" || data === null || Array.isArray(data)) throw wrong("data", "must be an object.");
  try {
    return JSON.parse(JSON.stringify(data));
  } catch {
    throw wrong("data", "must be JSON: no circles, no BigInt.");
  }
}
