import { sql } from "kysely";
import type { Migration } from "../migrate.ts";
import { columnTypes } from "./column-types.ts";

/** What the rotation of a tenant's keys needs of cards, and retention of people. */
export const cardNumbers: Migration = {
  name: "card-numbers",
  async up(db, kind) {
    const { text } = columnTypes[kind];
    for (const statement of [
      `alter table cards add column sealed_number ${text}`,
      "create index beneficiaries_by_disabling on beneficiaries (tenant_id, disabled_at) where disabled_at is not null",
    ]) {
      await sql.raw(statement).execute(db);
    }
  },
};
