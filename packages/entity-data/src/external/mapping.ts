import type { Json, JsonObject } from "../json.ts";
import type { ExternalChange } from "./external-sync-adapter.ts";

/**
 * What the other system gets: its fields by their paths, each from a path of ours (`"entity.data.names.given"`) or made by a
 * function. Fields that have no value are left out.
 *
 * @example
 * { "person.firstName": "entity.data.names.given", source: () => "fieldgate" }
 */
export type Mapping = Readonly<Record<string, string | ((change: ExternalChange) => Json | undefined)>>;

const unsafe = new Set(["__proto__", "constructor", "prototype"]);

export function applyMapping(mapping: Mapping, change: ExternalChange): JsonObject {
  const target: Record<string, unknown> = {};
  for (const [path, source] of Object.entries(mapping)) {
    const value = typeof source === "function" ? source(change) : valueAt(change, source);
    if (value !== undefined) setAt(target, path.split("."), value);
  }
  return target as JsonObject;
}

function valueAt(change: ExternalChange, path: string): Json | undefined {
  let value: unknown = change;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value as Json;
}

function setAt(target: Record<string, unknown>, path: readonly string[], value: Json): void {
  let place = target;
  for (const name of path.slice(0, -1)) {
    const inner = Object.hasOwn(place, name) ? place[name] : undefined;
    const next = typeof inner === "object" && inner !== null ? inner : {};
    place[name] = next;
    place = next as Record<string, unknown>;
  }
  place[path.at(-1) as string] = value;
}

/** Says which field of a mapping cannot be one. */
export function badPath(mapping: Mapping): string | undefined {
  return Object.keys(mapping).find((path) => path.split(".").some((name) => name === "" || unsafe.has(name)));
}
