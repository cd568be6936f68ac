import { type Static, Type } from "typebox";
import { component, literals, ref, strictObject } from "./schema.ts";

/*
 * How devices exchange events with the server. What a client has to know besides the shapes:
 *
 * - A push looks at each event by itself. Only a body that is no batch at all, or an event without a usable `id`, is a 400.
 * - A pulled event with status `proposed` holds fields that wait for a supervisor: they are named in `proposed`, and
 *   must not be applied. What becomes of them comes later as an event of its own with `proposalId`: an ordinary
 *   `update-individual` with just these fields where they were accepted, a `refuse-proposal` where they were not.
 * - A `delete-entity` of somebody who can sign in may wait too: `proposed` is then `["entity"]`, the entity stays, and a
 *   `delete-entity` with `proposalId` comes where it was accepted.
 * - `erase-entity` comes from the server alone: drop everything that is kept of the entity. Its other events are not
 *   pulled any more. `merge-entity` says that the entity is one person with the one that `data.into` names.
 * - `epoch` changes when the server was restored from a backup. Cursors of before then start over, and what was
 *   accepted since that backup has to be pushed again; it is idempotent, so push everything that is still at hand.
 */

/** Most events of a push. */
export const maxPushEvents = 500;
/** Most bytes of a push's body. */
export const maxPushBytes = 1024 * 1024;
/** Most bytes of one event's `data` as JSON in UTF-8. */
export const maxEventBytes = 256 * 1024;
/** Most events of a page, and how many it has where nobody asks. Pages also end when they hold about 1 MiB. */
export const maxPullEvents = 1000;
export const defaultPullEvents = 500;

/** The event types that the server understands; all others are kept and passed on. */
export const syncEventTypes = [
  "create-individual",
  "update-individual",
  "create-group",
  "update-group",
  "add-member",
  "remove-member",
  "delete-entity",
] as const;
export type SyncEventType = (typeof syncEventTypes)[number];

/** Event types that only the server writes. */
export const serverEventTypes = ["refuse-proposal", "erase-entity", "merge-entity"] as const;
export type ServerEventType = (typeof serverEventTypes)[number];

export const uuidPattern = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
export const eventTypePattern = "^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$";
export const instantPattern = "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?(?:Z|[+-]\\d{2}:\\d{2})$";
export const eventHashPattern = "^[A-Za-z0-9_-]{1,128}$";

const eventFields = {
  id: Type.String({ pattern: uuidPattern, description: "A UUID in lower case, made once by the author's device." }),
  entityId: Type.String({ pattern: uuidPattern, description: "The entity; for a person it is the beneficiary's id." }),
  type: Type.String({ pattern: eventTypePattern, minLength: 1, maxLength: 64 }),
  data: Type.Object({}, { additionalProperties: true, description: "Free JSON, at most 256 KiB." }),
  deviceTime: Type.String({ pattern: instantPattern, description: "By the device's clock: kept, never relied upon." }),
  sequence: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: "Grows with each event." }),
  baseVersion: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: "The version of the entity that the author saw.",
  }),
  hash: Type.Optional(Type.String({ pattern: eventHashPattern, description: "The client's chain, for the audit." })),
};

/** What happened to an entity, as the author's device says. */
export const SyncEvent = component("SyncEvent", strictObject(eventFields));
export type SyncEvent = Static<typeof SyncEvent>;

export const SyncPushRequest = component(
  "SyncPushRequest",
  strictObject({
    deviceId: Type.String({
      minLength: 1,
      maxLength: 128,
      description: "What the device calls itself. Only for the audit: the server has its own name for it.",
    }),
    events: Type.Array(
      // Only as much as a result needs: the rest is looked at event by event, so that a bad one spoils no others.
      Type.Unsafe<SyncEvent>({
        type: "object",
        description: "A SyncEvent. One that is none is rejected; the others of the batch are not.",
        required: ["id"],
        properties: { id: eventFields.id },
      }),
      { minItems: 1, maxItems: maxPushEvents },
    ),
  }),
);
export type SyncPushRequest = Static<typeof SyncPushRequest>;

export const pushStatuses = ["accepted", "duplicate", "rejected"] as const;
export type PushStatus = (typeof pushStatuses)[number];

/**
 * Why an event was rejected. Sending it again as it is would change nothing, except for `entity_not_found` and
 * `too_many_proposals`.
 */
export const rejectionCodes = [
  "invalid_event",
  "event_too_large",
  "id_conflict",
  "forbidden",
  "identifier_taken",
  "entity_not_found",
  "entity_erased",
  "entity_merged",
  "too_many_proposals",
] as const;
export type RejectionCode = (typeof rejectionCodes)[number];

export const PushResult = component(
  "PushResult",
  strictObject({
    id: Type.String(),
    status: literals(pushStatuses, "duplicate: the same event is there already, which is as good as accepted."),
    code: Type.Optional(literals(rejectionCodes, "Where it was rejected.")),
    message: Type.Optional(Type.String({ description: "For people: what is wrong, and what to do." })),
  }),
);
export type PushResult = Static<typeof PushResult>;

export const SyncPushResponse = component(
  "SyncPushResponse",
  strictObject({
    results: Type.Array(ref(PushResult), { description: "In the order of the events; durable when answered." }),
  }),
);
export type SyncPushResponse = Static<typeof SyncPushResponse>;

/**
 * `applied`: it holds. `conflicted`: it holds too, on top of one that its author had not seen. `proposed`: some of its
 * fields wait. `refused`: they will not come.
 */
export const eventStatuses = ["applied", "conflicted", "proposed", "refused"] as const;
export type EventStatus = (typeof eventStatuses)[number];

export const PulledEvent = component(
  "PulledEvent",
  strictObject({
    ...eventFields,
    version: Type.Integer({ description: "The entity's version after it." }),
    author: strictObject(
      { userId: Type.String(), username: Type.String() },
      { description: "To a citizen everybody else is `programme`, without an id." },
    ),
    assistedBy: Type.Optional(
      strictObject(
        { userId: Type.String(), username: Type.String() },
        { description: "The worker with whose help the author, a citizen, was signed in." },
      ),
    ),
    deviceId: Type.String({ description: "The server's name for the author's device." }),
    receivedAt: Type.String({ description: "By the server's clock." }),
    position: Type.String({ description: "Its place in the tenant's log." }),
    status: literals(eventStatuses),
    proposed: Type.Optional(
      Type.Array(Type.String(), {
        description: "Fields of `data` that wait for a supervisor, or `entity` for the deletion: do not apply them.",
      }),
    ),
    proposalId: Type.Optional(
      Type.String({ description: "The event whose waiting fields this one accepts or refuses." }),
    ),
  }),
);
export type PulledEvent = Static<typeof PulledEvent>;

export const SyncPullResponse = component(
  "SyncPullResponse",
  strictObject({
    events: Type.Array(ref(PulledEvent), { description: "In the order in which the server took them." }),
    cursor: Type.String({ description: "Where to go on: send it as it is. Empty is the beginning." }),
    more: Type.Boolean({ description: "Whether there is more right now." }),
    epoch: Type.String({ description: "Changes when the server was restored from a backup. Empty before any event." }),
  }),
);
export type SyncPullResponse = Static<typeof SyncPullResponse>;

export const VaultKey = component(
  "VaultKey",
  strictObject({
    keyId: Type.String(),
    key: Type.String({ description: "32 bytes in base64url: the user's own, on every device and at every sign-in." }),
  }),
);
export type VaultKey = Static<typeof VaultKey>;
