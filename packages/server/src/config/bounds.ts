/** What a number may be. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** The shape of settings with numbers: each leaf is a range or a flag. */
export interface Bounds {
  readonly [key: string]: Range | "flag" | Bounds;
}

export interface Problem {
  /** The value, as a path such as `password.minLength`. */
  readonly field: string;
  /** A sentence that names the field and says what it may be. */
  readonly sentence: string;
}

const isRange = (bound: Range | Bounds): bound is Range => typeof bound.min === "number";

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Every way in which `value` leaves the bounds; parts that are left out are fine. `path` names the whole; it may be empty. */
export function boundsProblems(value: unknown, bounds: Bounds, path: string): Problem[] {
  if (!isPlainObject(value)) return [{ field: path, sentence: `${path} must be an object.` }];
  return Object.entries(value).flatMap(([key, inner]) => {
    const field = path === "" ? key : `${path}.${key}`;
    const bound = Object.hasOwn(bounds, key) ? bounds[key] : undefined;
    if (bound === undefined) {
      return [{ field, sentence: `${field} is not known. Known here: ${Object.keys(bounds).join(", ")}.` }];
    }
    if (bound === "flag") {
      return typeof inner === "boolean" ? [] : [{ field, sentence: `${field} must be true or false.` }];
    }
    if (!isRange(bound)) return boundsProblems(inner, bound, field);
    const fits = typeof inner === "number" && Number.isInteger(inner) && inner >= bound.min && inner <= bound.max;
    const sentence = `${field} must be a whole number from ${bound.min} to ${bound.max}.`;
    return fits ? [] : [{ field, sentence }];
  });
}
