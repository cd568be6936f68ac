import { DatabaseSync } from "node:sqlite";
import { type HandDatabase, type StatementName, statements, type Work } from "./statements.ts";

const dialect = { now: "cast(round(unixepoch('subsec') * 1000) as integer)", forShare: "", unhurried: "null" };

/** `node:sqlite` as fast as it goes by hand: statements prepared once, the same durability and erasure. */
export function openHandSqlite(file: string): HandDatabase {
  const db = new DatabaseSync(file);
  db.exec(
    "pragma journal_mode = wal; pragma synchronous = full; pragma secure_delete = on; pragma busy_timeout = 5000",
  );
  const prepared = Object.fromEntries(
    Object.entries(statements(dialect)).map(([name, text]) => {
      const statement = db.prepare(text.replaceAll(/\$(\d)/g, "?$1"));
      const returnsRows = statement.columns().length > 0;
      return [name, { statement, returnsRows }];
    }),
  ) as Record<StatementName, { statement: ReturnType<DatabaseSync["prepare"]>; returnsRows: boolean }>;
  const begin = db.prepare("begin immediate");
  const commit = db.prepare("commit");

  function alone<T>(work: Work<T>): T {
    let step = work.next();
    while (!step.done) {
      const [name, ...values] = step.value;
      const { statement, returnsRows } = prepared[name];
      if (returnsRows) step = work.next(statement.all(...values));
      else {
        statement.run(...values);
        step = work.next([]);
      }
    }
    return step.value;
  }

  return {
    alone,
    later(work) {
      db.exec("pragma synchronous = normal");
      try {
        return alone(work);
      } finally {
        db.exec("pragma synchronous = full");
      }
    },
    together(work) {
      begin.run();
      try {
        const result = alone(work);
        commit.run();
        return result;
      } catch (error) {
        db.exec("rollback");
        throw error;
      }
    },
  };
}
