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
  const [left, right] = [JSON.stringify(plain(actual)), JSON.stringify(plain(expected))];
  claim(left === right, `${sentence}; expected ${right}, got ${left}`);
}

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return `bytes ${value.join(",")}`;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, plain(inner)]);
}

export const bytes = (...values: number[]): Uint8Array<ArrayBuffer> => new Uint8Array(values);

export const byId = <T extends { readonly id: string }>(list: readonly T[]): T[] =>
  [...list].sort((a, b) => (a.id < b.id ? -1 : 1));

interface Store {
  initialize(): Promise<void>;
  close(): Promise<void>;
}

/** What both suites need: stores of a tenant, opened for a case and closed after it. */
export function createBench<S extends Store>(create: (tenantId: string) => S | Promise<S>) {
  const opened = new Set<S>();
  async function open(tenantId: string): Promise<S> {
    const store = await create(tenantId);
    opened.add(store);
    await store.initialize();
    return store;
  }
  async function close(store: S): Promise<void> {
    opened.delete(store);
    await store.close();
  }
  const newTenant = () => `t-${Math.random().toString(36).slice(2, 12)}x`;
  function define(name: string, body: (store: S, tenantId: string) => Promise<void>, skip?: string): ConformanceCase {
    const run = async () => {
      const tenantId = newTenant();
      try {
        await body(await open(tenantId), tenantId);
      } finally {
        for (const store of opened) await close(store);
      }
    };
    return skip === undefined ? { name, run } : { name, run, skip };
  }
  return { open, close, newTenant, define };
}
