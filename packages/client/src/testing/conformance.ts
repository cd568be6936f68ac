/** One thing an implementation must do. Give each to your runner: `for (const c of cases) test(c.name, c.run)`. */
export interface ConformanceCase {
  readonly name: string;
  readonly run: () => Promise<void>;
  /** Why this case does not apply to the subject, where it does not. Pass it to your runner's skip. */
  readonly skip?: string;
}

export function claim(holds: boolean, sentence: string): asserts holds {
  if (!holds) throw new Error(`Not conforming: ${sentence}`);
}

/** Equal as JSON, whatever the order of fields. */
export function claimEqual(actual: unknown, expected: unknown, sentence: string): void {
  const [left, right] = [JSON.stringify(sortFields(actual)), JSON.stringify(sortFields(expected))];
  claim(left === right, `${sentence}; expected ${right}, got ${left}`);
}

function sortFields(value: unknown): unknown {
  if (value instanceof Uint8Array) return `bytes ${value.join(",")}`;
  if (Array.isArray(value)) return value.map(sortFields);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sortFields(inner)]);
}

export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return undefined;
}
