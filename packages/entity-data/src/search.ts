import type { Entity } from "./entities/entity.ts";
import type { Json } from "./json.ts";

/**
 * What to look for:
 * - a text: every word of it occurs somewhere in the entity's data, in upper or lower case;
 * - fields: each has the value given; of an inner object only the fields named count, and a list must have all that are listed;
 * - a function of your own.
 *
 * @example
 * searchEntities({ type: "individual", data: { names: { given: "Amina" } } })
 */
export type Search = string | EntityFields | ((entity: Entity) => boolean);

export interface EntityFields {
  readonly id?: string;
  readonly type?: string;
  readonly data?: Json;
  readonly members?: readonly string[];
}

export function toMatcher(search: Search): (entity: Entity) => boolean {
  if (typeof search === "function") return search;
  if (typeof search !== "string") return (entity) => matches(entity as unknown as Json, search as unknown as Json);
  const words = fold(search).split(/\s+/).filter(Boolean);
  return ({ data }) => {
    const text = [...textsIn(data)].join("\n");
    return words.every((word) => text.includes(word));
  };
}

const fold = (text: string) => text.toLowerCase().normalize("NFC");

function* textsIn(value: Json): Generator<string> {
  if (typeof value === "string" || typeof value === "number") yield fold(String(value));
  else if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) yield* textsIn(inner);
}

function matches(value: Json | undefined, wanted: Json): boolean {
  if (Array.isArray(wanted)) {
    return Array.isArray(value) && wanted.every((each) => value.some((inner: Json) => matches(inner, each)));
  }
  if (typeof wanted === "object" && wanted !== null) {
    if (typeof value !== "object" || value === null) return false;
    return Object.entries(wanted).every(
      ([name, inner]) => Object.hasOwn(value, name) && matches((value as Record<string, Json>)[name], inner as Json),
    );
  }
  if (typeof wanted === "string") return typeof value === "string" && fold(value) === fold(wanted);
  return value === wanted;
}
