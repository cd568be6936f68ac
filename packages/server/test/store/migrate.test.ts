import { sql } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { type Migration, migrate, migrations } from "../../src/store/migrate.ts";
import { openBackend, openStore } from "../../src/store/open-store.ts";
import type { Database } from "../../src/store/schema.ts";
import type { Store } from "../../src/store/store.ts";
import { databases } from "../kit/databases.ts";
import { freshStore } from "./fresh-store.ts";
import { runProgram } from "./programs/program.ts";

async function appliedSteps(store: Store): Promise<unknown[]> {
  return (await sql`select version, name from schema_migrations order by version`.execute(store.db)).rows;
}

const allSteps = migrations.map(({ name }, index) => ({ version: index + 1, name }));

describe.each(databases)("migrating $name", ({ fresh }) => {
  test("an empty database by three stores at once, and again later", async () => {
    const { store, another } = await freshStore(fresh, { empty: true });
    const stores = [store, await another(), await another()];
    await Promise.all(stores.map((each) => each.migrate()));
    expect(await appliedSteps(store)).toEqual(allSteps);
    await store.migrate();
    expect(await appliedSteps(store)).toEqual(allSteps);
  });

  test("an empty database by three processes at once", async () => {
    const { store, config } = await freshStore(fresh, { empty: true });
    const programs = Array.from({ length: 3 }, () => runProgram("migrate", JSON.stringify(config)));
    expect(await Promise.all(programs.map((program) => program.ended))).toEqual([0, 0, 0]);
    expect(await appliedSteps(store)).toEqual(allSteps);
  });

  test("gives every table the columns of the schema, and no other", async () => {
    const { store } = await freshStore(fresh);
    for (const [table, row] of Object.entries(fullRows)) {
      await store.db
        .insertInto(table as keyof Database)
        .values(row)
        .execute();
      const rows = await store.db
        .selectFrom(table as keyof Database)
        .selectAll()
        .execute();
      expect(rows, table).toEqual([row]);
    }
    const tables = await store.db.introspection.getTables();
    const names = tables.map(({ name }) => name).filter((name) => name !== "schema_migrations");
    expect(names.sort()).toEqual(Object.keys(fullRows).sort());
  });

  test("refuses a database that a newer version has written, and leaves it as it is", async () => {
    const { store } = await freshStore(fresh);
    const version = migrations.length + 1;
    await sql`insert into schema_migrations (version, name) values (${version}, 'of tomorrow')`.execute(store.db);
    await expect(store.migrate()).rejects.toThrow(`schema ${version}, made by a newer Fieldgate`);
    expect(await appliedSteps(store)).toEqual([...allSteps, { version, name: "of tomorrow" }]);
  });

  test("refuses a database whose steps are not ours", async () => {
    const { store } = await freshStore(fresh);
    await sql`update schema_migrations set name = 'of another' where version = 1`.execute(store.db);
    await expect(store.migrate()).rejects.toThrow('Step 1 of the database\'s schema is "of another"');
  });

  test("keeps nothing of a step that fails, and succeeds when it is put right", async () => {
    const { store, config } = await freshStore(fresh);
    const backend = openBackend(config);
    onTestFinished(() => backend.close());
    const step = (fails: boolean): Migration => ({
      name: "next",
      async up(db) {
        await sql`create table next (id integer)`.execute(db);
        if (fails) throw new Error("halfway");
      },
    });
    await expect(migrate(backend, [...migrations, step(true)])).rejects.toThrow("halfway");
    expect(await appliedSteps(store)).toEqual(allSteps);
    await migrate(backend, [...migrations, step(false)]);
    expect(await appliedSteps(store)).toEqual([...allSteps, { version: migrations.length + 1, name: "next" }]);
    expect((await sql`select * from next`.execute(store.db)).rows).toEqual([]);
  });

  test("may take longer than any everyday query, while another node waits", async () => {
    const database = await fresh();
    onTestFinished(() => database.drop());
    const backend = openBackend(database.config);
    onTestFinished(() => backend.close());
    const slow: Migration = {
      name: "slow",
      async up(db, kind) {
        if (kind === "postgres") await sql`select pg_sleep(3)`.execute(db);
        else await new Promise((resolve) => setTimeout(resolve, 1000));
        await sql`create table slow (id integer)`.execute(db);
      },
    };
    const steps = [...migrations, slow];
    await Promise.all([migrate(backend, steps), migrate(backend, steps)]);
    const store = await openStore(database.config, systemClock);
    onTestFinished(() => store.close());
    expect(await appliedSteps(store)).toHaveLength(steps.length);
  });
});

/** Every column of every table: the compiler asks for those of the schema, the database for those of the migrations. */
const fullRows: { readonly [Table in keyof Database]: Required<Database[Table]> } = {
  tenants: { id: "t", name: "T", settings: "{}", version: 1, created_at: 1, updated_at: 2, disabled_at: 3 },
  tenant_hosts: { host: "h", tenant_id: "t" },
  identity_providers: {
    ...{ tenant_id: "t", type: "oidc_a", issuer: "https://i", client_id: "c", organization: "o", config: "{}" },
    ...{ sealed_secret: "s" },
  },
  workers: {
    ...{ id: "w", tenant_id: "t", username: "Ana", username_key: "ana", password_hash: "p", credential_version: 1 },
    ...{ issuer: "https://i", subject: "s", roles: "[]", created_at: 1, updated_at: 2, disabled_at: 3 },
  },
  sessions: {
    ...{ id: "s", tenant_id: "t", user_id: "w", kind: "k", username: "Ana", provider: "p", amr: "[]", acr: "a" },
    ...{
      scope: "",
      entity_id: "e",
      parent_id: "s",
      device_id: "d",
      refresh_key_id: "r",
      counter: 1,
      head_hash: "h",
      parent_hash: "p",
    },
    ...{ jkt: "j", created_at: 1, rotated_at: 2, idle_ms: 3, expires_at: 4, absolute_expires_at: 5, revoked_at: 6 },
    ...{ revoked_reason: "r", provider_sid: "p" },
  },
  devices: { id: "d", tenant_id: "t", user_id: "w", created_at: 1, expires_at: 2 },
  budgets: { key: "b", subject: "s", reserved: 1, failed: 2, locked_until: 3, inflight_until: 4, expires_at: 5 },
  dpop_proofs: { id: "p", expires_at: 1 },
  spent_tokens: { id: "p", expires_at: 1 },
  provider_logouts: { id: "p", issued_at: 1, expires_at: 2 },
  keys: {
    ...{ id: "k", purpose: "p", alg: "a", public_jwk: "{}", sealed: "s", created_at: 1, active_from: 2, retires_at: 3 },
    ...{ expires_at: 4 },
  },
  deployment: { name: "n", value: "v" },
  leases: { name: "n", holder: "h", expires_at: 1 },
  journal_events: {
    ...{ id: "e", tenant_id: "t", at: 1, type: "y", subject: "s", session_id: "i", data: "{}", seq: 1, hash: "h" },
  },
  journal_heads: { tenant_id: "t", seq: 1, hash: "h" },
  journal_checkpoints: { tenant_id: "t", seq: 1, hash: "h", at: 1, key_id: "k", signature: "s" },
  tenant_keys: { id: "t/data/1", tenant_id: "t", purpose: "data", version: 1, sealed: "s", created_at: 1 },
  beneficiaries: {
    ...{ id: "b", tenant_id: "t", external_lookup: "x", sealed_external_id: "s", sealed_names: "s", sealed_birth: "s" },
    ...{ language: "sw", key_version: 1, version: 1, created_at: 1, updated_at: 2, disabled_at: 3 },
  },
  identifiers: {
    ...{ id: "i", tenant_id: "t", beneficiary_id: "b", kind: "phone", type: "", lookup: "l", sealed_value: "s" },
    ...{ position: 0, active: 1 },
  },
  otp_challenges: {
    ...{ slot: "s", id: "c", tenant_id: "t", recipient: "r", purpose: "p", key_id: "k", attempts: 1, sent_at: 2 },
    ...{ expires_at: 3, consumed_at: 4 },
  },
  handles: { hash: "h", tenant_id: "t", purpose: "p", sealed_state: "s", expires_at: 1 },
  outbox: {
    ...{ id: "o", tenant_id: "t", challenge_id: "c", state: "pending", medium: "sms", sealed_job: "s", attempts: 1 },
    ...{ channel_index: 0, channel: "c", provider_id: "p", next_at: 1, claimed_by: "n", claimed_until: 2 },
    ...{ created_at: 3, expires_at: 4 },
  },
  qr_issuers: {
    ...{ id: "q", tenant_id: "t", iss: "i", kid: "k", alg: "a", jwk: "{}", options: "{}", state: "active" },
    ...{ not_before: 1, not_after: 2, retired_at: 3, sealed_private: "s", created_at: 4 },
  },
  cards: {
    ...{ id: "c", tenant_id: "t", beneficiary_id: "b", lookup: "l", fingerprint: "f", issued_at: 1, expires_at: 2 },
    ...{ revoked_at: 3, sealed_number: "s" },
  },
  revoked_cards: { tenant_id: "t", fingerprint: "f", revoked_at: 1 },
  sync_heads: { tenant_id: "t", epoch: "e", position: 1 },
  sync_entities: {
    ...{ tenant_id: "t", entity_id: "e", version: 1, device_id: "d", run_start: 0, deleted_at: 1, erased_at: 2 },
    ...{ merged_into: "f" },
  },
  sync_events: {
    ...{ tenant_id: "t", position: 1, id: "v", entity_id: "e", version: 1, received_at: 1, size: 1, sealed_event: "s" },
  },
  sync_proposals: {
    ...{ tenant_id: "t", event_id: "v", entity_id: "e", fields: "[]", state: "open", created_at: 1, decided_at: 2 },
  },
  vault_keys: { tenant_id: "t", user_id: "w", id: "k", sealed_key: "s", created_at: 1 },
};
