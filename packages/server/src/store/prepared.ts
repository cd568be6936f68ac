import type { Compilable, CompiledQuery } from "kysely";
import type { Queries } from "./store.ts";

interface Statement<Name> {
  readonly compiled: CompiledQuery;
  /** The value each parameter is; null where it is the same every time. */
  readonly slots: readonly (Name | null)[];
}

/**
 * A statement that is built once and then only given its values: to build a query costs more than to run it on SQLite,
 * so those of the busiest flows are prepared. `build` gets a stand-in for each value and must pass it on as it is; what
 * depends on a value other than as a parameter is another statement. Every call gives all values.
 *
 * @example
 * const byId = prepare((q, { id }: { id: string }) => q.db.selectFrom("devices").selectAll().where("id", "=", id));
 * const [device] = await byId(tx, { id });
 */
export function prepare<Values extends object, Row>(
  build: (q: Queries, values: Values) => Compilable<Row>,
): (q: Queries, values: Values) => Promise<Row[]> {
  // A database's clock, and with it the whole statement, is one object for all stores of a kind. Only a clock that was
  // set forward by a test is a new one each time, and its statement too.
  const known = new WeakMap<Queries["now"], Statement<keyof Values>>();

  return async (q, values) => {
    const { now } = q;
    let statement = known.get(now);
    if (statement === undefined) {
      statement = compile(q, build, values);
      known.set(now, statement);
    }
    const { compiled, slots } = statement;
    const parameters = slots.map((name, index) => (name === null ? compiled.parameters[index] : values[name]));
    const { rows } = await q.db.executeQuery<Row>({ ...compiled, parameters } as CompiledQuery<Row>);
    return rows;
  };
}

function compile<Values extends object>(
  q: Queries,
  build: (q: Queries, values: Values) => Compilable<unknown>,
  values: Values,
): Statement<keyof Values> {
  const names = new Map<unknown, keyof Values>();
  const standIns = Object.fromEntries(
    Object.keys(values).map((name) => {
      const standIn = Object.freeze({ standsFor: name });
      names.set(standIn, name as keyof Values);
      return [name, standIn];
    }),
  );
  const compiled = build(q, standIns as Values).compile();
  return { compiled, slots: compiled.parameters.map((parameter) => names.get(parameter) ?? null) };
}
