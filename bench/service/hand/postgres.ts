import pg from "pg";
import { type HandDatabase, proofLifeMs, type SessionRow, texts } from "./statements.ts";

const now = "(select (extract(epoch from clock_timestamp()) * 1000)::bigint)";
const int8 = 20;

/** The refresh on `pg` as fast as it goes by hand: named statements, a pool as large as the service's. */
export function openHandPostgres(url: string, poolSize: number): HandDatabase {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    types: { getTypeParser: (oid, format) => (oid === int8 ? Number : pg.types.getTypeParser(oid, format as "text")) },
  });
  const find = { name: "find", text: texts.find(now) };
  const useProof = { name: "use-proof", text: texts.useProof(now) };
  const rotate = { name: "rotate", text: texts.rotate(now) };
  const record = { name: "record", text: texts.record(now) };

  return {
    findSession: async (id) => (await pool.query<SessionRow>({ ...find, values: [id] })).rows[0],
    async rotate({ id, presented, presentedHash, nextHash, proofId, eventId }) {
      const client = await pool.connect();
      try {
        await client.query("begin");
        if (proofId !== null) {
          const { rowCount } = await client.query({ ...useProof, values: [proofId, proofLifeMs] });
          if (rowCount !== 1) throw new Error("The proof was used.");
        }
        const values = [presented + 1, nextHash, presentedHash, id, presented];
        const row = (await client.query<SessionRow>({ ...rotate, values })).rows[0];
        if (row) {
          const data = JSON.stringify({ counter: row.counter });
          await client.query({
            ...record,
            values: [eventId, row.tenant_id, "session.refreshed", row.user_id, row.id, data],
          });
        }
        await client.query("commit");
        client.release();
        return row;
      } catch (error) {
        client.release(true);
        throw error;
      }
    },
    close: () => pool.end(),
  };
}
