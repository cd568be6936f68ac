import { Kysely, type RawBuilder, sql } from "kysely";
import type { Backend } from "../backend.ts";
import type { Database } from "../schema.ts";
import { sqliteDialect } from "./dialect.ts";
import { watchDataVersion } from "./hints.ts";
import { openFile } from "./open-file.ts";

const clock = sql<number>`cast(round(unixepoch('subsec') * 1000) as integer)`;

function now(offset: number): RawBuilder<number> {
  return offset === 0 ? clock : sql<number>`(${clock} + cast(${offset} as integer))`;
}

export function openSqlite(file: string): Backend {
  const handle = openFile(file);
  const db = new Kysely<Database>({ dialect: sqliteDialect(handle, { patience: 5000 }) });
  const hints = watchDataVersion(handle);
  return {
    kind: "sqlite",
    db,
    now,
    // `begin immediate` lets one writer in at a time.
    isCollision: () => false,
    async exclusively(work) {
      const patient = new Kysely<unknown>({ dialect: sqliteDialect(openFile(file), { patience: 60_000 }) });
      try {
        return await patient.transaction().execute(work);
      } finally {
        await patient.destroy();
      }
    },
    async snapshot(work) {
      const own = new Kysely<Database>({ dialect: sqliteDialect(openFile(file), { patience: 60_000 }) });
      try {
        return await own.transaction().setAccessMode("read only").execute(work);
      } finally {
        await own.destroy();
      }
    },
    hints,
    async close() {
      await hints.close();
      await db.destroy();
      // Kysely destroys nothing that was never used.
      if (handle.isOpen) handle.close();
    },
  };
}
