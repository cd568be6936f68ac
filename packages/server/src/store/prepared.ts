import { type Compilable, type CompiledQuery, type RawBuilder, sql } from "kysely";
import type { Flush, Queries } from "./store.ts";

interface Statement<Name> {
  readonly compiled: CompiledQuery;
  /** The value each parameter is; null where it is the same every time. */
  readonly slots: readonly (Name | null)[];
}

/**
 * A statement that is built once and then only given its values: to build a query costs more than to run it on SQLite,
 * so those of the busiest flows are prepared. `build` gets a stand-in for each value and must pass it on as it is; what
 * depends on a value other than as a parameter is another statement. Every call gives all values. With `later` it need
 * not wait for the disk where it is run by itself; on PostgreSQL it has to return `unhurried` for that.
 *
 * @example
 * const byId = prepare((q, { id }: { id: string }) => q.db.selectFrom("devices").selectAll().where("id", "=", id));
 * const [device] = await byId(tx, { id });
 */
export function prepare<Values extends object, Row>(
  build: (q: Queries, values: Values) => Compilable<Row>,
  flush: Flush = "first",
): (q: Queries, values: Values) => Promise<Row[]> {
  // A database's clock, and with it the whole statement, is one object for all stores of a kind. Only a clock that was
  // set forward by a test is a new one each time, and its statement too.
  const known = new WeakMap<Queries["now"], Statement<keyof Values>>();

  return (q, values) => {
    const { now } = q;
    let statement = known.get(now);
    if (statement === undefined) {
      statement = compile(q, build, values);
      known.set(now, statement);
    }
    const { compiled, slots } = statement;
    const parameters = slots.map((name, index) => (name === null ? compiled.parameters[index] : values[name]));
    return q.run({ ...compiled, parameters } as CompiledQuery<Row>, flush);
  };
}

/** A statement in SQL as `prepare` takes it. */
export const built = <Row>(q: Queries, statement: RawBuilder<Row>): Compilable<Row> => ({
  compile: () => statement.compile(q.db),
});

/**
 * For the `returning` of a statement that need not wait for the disk: PostgreSQL then commits it, and all else in its
 * transaction, without. It is said there because another statement would cost more than it saves.
 */
export const unhurried = (q: Queries): RawBuilder<unknown> =>
  q.kind === "postgres" ? sql`set_config('synchronous_commit', 'off', true)` : sql`null`;

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
