import type { DatabaseSync, StatementSync } from "node:sqlite";

export interface PreparedStatement {
  readonly statement: StatementSync;
  /** Whether it answers with rows: a select, or a write with `returning`. */
  readonly returnsRows: boolean;
}

/** Prepared statements by their text; the ones unused for longest are forgotten first. */
export class Statements {
  readonly #db: DatabaseSync;
  readonly #limit: number;
  readonly #known = new Map<string, PreparedStatement>();

  constructor(db: DatabaseSync, limit = 256) {
    this.#db = db;
    this.#limit = limit;
  }

  get size(): number {
    return this.#known.size;
  }

  get(sql: string): PreparedStatement {
    let prepared = this.#known.get(sql);
    if (prepared !== undefined) {
      this.#known.delete(sql);
    } else {
      const statement = this.#db.prepare(sql);
      prepared = { statement, returnsRows: statement.columns().length > 0 };
      if (this.#known.size >= this.#limit) {
        const oldest = this.#known.keys().next();
        if (!oldest.done) this.#known.delete(oldest.value);
      }
    }
    this.#known.set(sql, prepared);
    return prepared;
  }
}
