export type Json = null | boolean | number | string | readonly Json[] | { readonly [field: string]: Json };
export type JsonObject = { readonly [field: string]: Json };

/** JSON whose fields are in order, so that the same value is always the same text. */
export function canonicalJson(value: Json): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]));
}
