import pg from "pg";
import { type HandDatabase, statements, type Work } from "./statements.ts";

const dialect = {
  now: "(select (extract(epoch from clock_timestamp()) * 1000)::bigint)",
  forShare: "for share",
  unhurried: "set_config('synchronous_commit', 'off', true)",
};
const int8 = 20;

/** `pg` as fast as it goes by hand: named statements, a pool as large as the service's. */
export function openHandPostgres(url: string, poolSize: number): HandDatabase {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    types: { getTypeParser: (oid, format) => (oid === int8 ? Number : pg.types.getTypeParser(oid, format as "text")) },
  });
  const texts = statements(dialect);

  async function run<T>(on: pg.Pool | pg.PoolClient, work: Work<T>): Promise<T> {
    let step = work.next();
    while (!step.done) {
      const [name, ...values] = step.value;
      const { rows } = await on.query({ name, text: texts[name], values });
      step = work.next(rows);
    }
    return step.value;
  }

  return {
    alone: (work) => run(pool, work),
    later: (work) => run(pool, work),
    async together(work) {
      const client = await pool.connect();
      try {
        await client.query("begin");
        const result = await run(client, work);
        await client.query("commit");
        client.release();
        return result;
      } catch (error) {
        client.release(true);
        throw error;
      }
    },
  };
}
