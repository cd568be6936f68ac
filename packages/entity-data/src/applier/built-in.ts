import type { EntityContent } from "../entities/entity.ts";
import type { EntityEvent } from "../events/event.ts";
import type { JsonObject } from "../json.ts";
import type { EventApplier } from "./applier.ts";

/** Fields of a change take the place of the ones before; null removes a field. */
function merge(before: JsonObject, change: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...before, ...change }).filter(([, value]) => value !== null));
}

const create =
  (type: string): EventApplier =>
  (entity, { data }) => {
    if (entity) throw new Error(`This ${entity.type} exists already.`);
    return { type, data: merge({}, data), members: [] };
  };

/** An entity may be known to the service from elsewhere, such as a register: then what is known here begins with a change. */
const update =
  (type: string): EventApplier =>
  (entity, { data }) => {
    checkType(entity, type);
    return { type, members: entity?.members ?? [], data: merge(entity?.data ?? {}, data) };
  };

const changeMembers =
  (change: (members: readonly string[], memberId: string) => readonly string[]): EventApplier =>
  (entity, event) => {
    checkType(entity, "group");
    const members = change(entity?.members ?? [], memberIdOf(event));
    return { type: "group", data: entity?.data ?? {}, members };
  };

function checkType(entity: EntityContent | null, type: string): void {
  if (entity && entity.type !== type) throw new Error(`This is no ${type}: it is a ${entity.type}.`);
}

function memberIdOf({ data: { memberId } }: EntityEvent): string {
  if (typeof memberId !== "string" || memberId === "") throw new Error("memberId must name the member.");
  return memberId;
}

/** The appliers of the event types that every deployment knows. */
export const builtInAppliers: Readonly<Record<string, EventApplier>> = {
  "create-individual": create("individual"),
  "update-individual": update("individual"),
  "create-group": create("group"),
  "update-group": update("group"),
  "add-member": changeMembers((members, id) => (members.includes(id) ? members : [...members, id])),
  "remove-member": changeMembers((members, id) => members.filter((member) => member !== id)),
  "delete-entity": () => null,
};
