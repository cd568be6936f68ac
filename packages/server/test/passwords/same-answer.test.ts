import { type Kysely, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultPolicy } from "../../src/config/policy.ts";
import type { Store } from "../../src/store/store.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import type { TestNode } from "../kit/node.ts";
import { type Guess, guess, startBehindProxy } from "./guess.ts";
import { addStrangers } from "./strangers.ts";

const watched = ["budgets", "journal_events", "sessions", "devices", "workers", "tenants", "dpop_proofs", "keys"];

/** Lets the database itself note every row that is written. */
async function watchWrites({ db, kind }: Store): Promise<void> {
  const run = (statement: string) => sql.raw(statement).execute(db);
  await run("create table writes (what text not null)");
  if (kind === "postgres") {
    await run(`create function note_write() returns trigger language plpgsql as $$
      begin insert into writes values (tg_table_name || ' ' || lower(tg_op)); return null; end $$`);
  }
  for (const table of watched) {
    for (const operation of ["insert", "update", "delete"]) {
      const on = `create trigger note_${table}_${operation} after ${operation} on ${table} for each row`;
      await run(
        kind === "postgres"
          ? `${on} execute function note_write()`
          : `${on} begin insert into writes values ('${table} ${operation}'); end`,
      );
    }
  }
}

async function takeWrites({ db }: Store): Promise<string[]> {
  const rows = await (db as unknown as Kysely<{ writes: { what: string } }>)
    .deleteFrom("writes")
    .returning("what")
    .execute();
  return rows.map(({ what }) => what).toSorted();
}

/** What is of the moment or of the one request. */
const own = new Set(["date", "x-request-id", "dpop-nonce"]);

describe.each(databases)("PW3: whoever does not get in is told the same, on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let node: TestNode;
  let strangers: ReadonlyMap<string, Guess>;

  beforeAll(async () => {
    database = await fresh();
    // No sealer: only what the request itself writes shall be noted.
    const journal = { ...defaultPolicy.journal, seal: 3600 };
    node = await startBehindProxy({ database: database.config, policy: { journal } });
    strangers = await addStrangers(node);
    await watchWrites(node.app.services.store);
  });
  afterAll(async () => {
    await node?.close();
    await database?.drop();
  });

  async function turn(who: Guess) {
    await takeWrites(node.app.services.store);
    const answer = await guess(node, who);
    return {
      status: answer.status,
      body: answer.text.replace(/urn:uuid:[0-9a-f-]{36}/, "urn:uuid:…"),
      headers: [...answer.headers].filter(([name]) => !own.has(name)),
      retryAfter: answer.headers.get("retry-after"),
      writes: await takeWrites(node.app.services.store),
    };
  }

  test("status, bytes, headers and writes are the same, from the first try to the lock-out and after it", async () => {
    const told = new Map<string, unknown[]>();
    for (const [index, [name, who]] of [...strangers].entries()) {
      const turns: unknown[] = [];
      // Two failures here, then others from elsewhere until the lock, then what the lock says; each in networks of their own.
      for (let nth = 0; nth < 12; nth += 1) {
        const { retryAfter, ...answer } = await turn({ ...who, from: `192.0.${index}.${nth < 2 ? 1 : nth}` });
        expect(retryAfter === null, `${name}, try ${nth}`).toBe(answer.status === 401);
        turns.push({ ...answer, headers: answer.headers.filter(([header]) => header !== "retry-after") });
      }
      told.set(name, turns);
    }
    const [first, ...others] = told;
    expect(first?.[1].map((answer) => (answer as { status: number }).status)).toEqual([
      ...Array(10).fill(401),
      429,
      429,
    ]);
    expect(first?.[1][0]).toMatchObject({
      writes: [...Array(3).fill("budgets insert"), ...Array(2).fill("budgets update"), "journal_events insert"],
    });
    for (const [name, turns] of others) expect(turns, name).toEqual(first?.[1]);
  });

  test("a sign-in that would have to be bound, and one with a bad proof, say nothing about who is there", async () => {
    const told = new Set<string>();
    for (const { username, tenantId = "demo", password = "x" } of strangers.values()) {
      const answer = await node.api.login({ username, tenantId, password }, { headers: { dpop: "e30.e30.e30" } });
      told.add(`${answer.status} ${answer.text.replace(/urn:uuid:[0-9a-f-]{36}/, "")}`);
    }
    expect(told.size).toBe(1);
    expect([...told][0]).toContain("invalid_dpop_proof");
  });
});
