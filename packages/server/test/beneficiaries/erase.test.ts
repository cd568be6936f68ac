import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { type CitizenSession, type Problem, routes } from "@fieldgate/contract";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeBackup } from "../../src/backup/write-backup.ts";
import { tracesOf } from "../../src/store/beneficiary-traces.ts";
import { databases } from "../kit/databases.ts";
import { startNode, type TestNode, testSecret } from "../kit/node.ts";
import { TestChannel } from "../kit/test-channel.ts";
import { manyPeople, Programme } from "./programme.ts";

type Answer = CitizenSession & Problem;

describe.each(databases)("erasing a person on $name", (database) => {
  let programme: Programme;
  let node: TestNode;
  const sms = new TestChannel("sms", "sms");
  beforeAll(async () => {
    programme = await Programme.open(database);
    node = await startNode({ database: programme.config, channels: [sms] });
  });
  afterAll(async () => {
    await node?.close();
    await programme?.close();
  });

  const compact = database.name === "postgres" ? ["--compact"] : [];

  /** Every byte that the database keeps in files. */
  async function files(): Promise<Buffer> {
    const { config } = programme;
    if (config.kind === "sqlite") {
      const folder = dirname(config.file);
      // By another process: one that closes the files would give up the locks of its own connections.
      return execFileSync(
        "cat",
        readdirSync(folder).map((name) => join(folder, name)),
        { maxBuffer: 1e9 },
      );
    }
    const client = new pg.Client({ connectionString: config.url });
    await client.connect();
    try {
      await client.query("checkpoint");
      const { rows } = await client.query<{ bytes: Buffer }>(
        `select pg_read_binary_file(pg_relation_filepath(oid)) as bytes from pg_class
         where relkind in ('r', 'i', 't') and relfilenode <> 0 and relnamespace = 'public'::regnamespace`,
      );
      return Buffer.concat(rows.map(({ bytes }) => bytes));
    } finally {
      await client.end();
    }
  }
  const found = async (texts: readonly string[]) => {
    const bytes = await files();
    return texts.filter((text) => bytes.includes(text));
  };

  test("leaves neither text nor cipher text in the files, and everyone else alone", async () => {
    programme.write("many.csv", manyPeople(600));
    await programme.import(["many.csv"]);
    const plain = [
      "Zephyrine",
      "Quartermain",
      "1907-11-13",
      "+254733987654",
      "zephyrine@example.net",
      "ZQ77112233",
      "Z-EXT-1",
    ];
    const person = {
      ...{ external_id: plain[6], given_name: plain[0], family_name: plain[1], date_of_birth: plain[2] },
      ...{ phones: [plain[3]], emails: [plain[4]], national_ids: [`nid:${plain[5]}`], language: "sw" },
    };
    // In her household two share the phone; she is changed once, so that old versions of her rows lie about too.
    programme.write("her.ndjson", [
      JSON.stringify(person),
      JSON.stringify({ external_id: "Z-2", given_name: "Brother", phones: [plain[3]] }),
    ]);
    await programme.import(["her.ndjson"]);
    const { id } = await programme.person("Z-EXT-1");
    const before = await tracesOf(programme.store, id);
    await programme.line.jsonHere(["beneficiary", "import", "-"], {
      input: JSON.stringify({ external_id: "Z-EXT-1", language: "en" }),
    });
    await programme.line.jsonHere(["card", "issue", "Z-EXT-1"]);
    // She signs in with her ID number, and a second code is on its way to her.
    const claim = { idNumber: plain[5], dateOfBirth: plain[2], tenantId: "demo" };
    const { token } = (await node.api.call<Answer>(routes.idVerify, { body: claim })).body;
    expect((await node.api.me(token)).status).toBe(200);
    await node.api.call<Answer>(routes.idVerify, { body: { ...claim, dateOfBirth: "1950-01-01" } });

    const traces = [...before, ...(await tracesOf(programme.store, id))];
    expect(traces.length).toBeGreaterThan(12);
    const shared = (await programme.cipher()).index("phone", plain[3] ?? "");
    const own = traces.filter((trace) => trace !== shared);
    expect(await found(own)).not.toEqual([]);
    expect(await found(plain)).toEqual([]);

    const erased = await programme.line.json(["beneficiary", "erase", "Z-EXT-1", "--yes", ...compact]);
    expect(erased).toMatchObject({ id, erased: true, clean: database.name === "sqlite" ? true : null });
    expect(await found(own)).toEqual([]);
    expect(await found(plain)).toEqual([]);
    expect(await found([shared])).toEqual([shared]);

    for (const [table, column] of [
      ["identifiers", "beneficiary_id"],
      ["cards", "beneficiary_id"],
      ["devices", "user_id"],
    ] as const) {
      expect(
        await programme.store.db
          .selectFrom(table)
          .selectAll()
          .where(column as never, "=", id as never)
          .execute(),
      ).toEqual([]);
    }
    await expect.poll(async () => (await node.api.me(token)).status, { timeout: 6000 }).toBe(401);
    expect((await node.api.call<Answer>(routes.idVerify, { body: claim })).body.code).toBe("invalid_identity");
    expect(await programme.events("beneficiary.erased")).toEqual([{ subject: id, data: { reason: "asked" } }]);
    expect(await programme.person("Z-2")).toMatchObject({ phones: [plain[3]] });
    expect(await programme.everyone()).toHaveLength(601);
    // A backup made from now on does not bring her back.
    const backup = await writeBackup(programme.store, testSecret, programme.path("after.gz"), () => {});
    expect(backup.rows.beneficiaries).toBe(601);
    expect(await programme.line.runHere(["beneficiary", "erase", "Z-EXT-1", "--yes"])).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining("has no person") },
    });
  });

  test("many times over, no trace of any is left", async () => {
    const people = (await programme.everyone()).filter(({ externalId }) => externalId?.endsWith("7"));
    // A vacuum of every table takes PostgreSQL its time.
    const many = database.name === "postgres" ? 5 : 25;
    const traces: string[] = [];
    for (const { id } of people.slice(0, many)) traces.push(...(await tracesOf(programme.store, id)));
    let rewritten = 0;
    for (const { id } of people.slice(0, many)) {
      const answer = await programme.line.jsonHere(["beneficiary", "erase", id, "--yes"]);
      if (answer.rewritten) rewritten += 1;
    }
    // Deleted rows are overwritten where they lie; to write the whole file anew is for the rare copy.
    expect(rewritten).toBeLessThan(8);
    if (database.name === "postgres") {
      // The last one writes the tables anew.
      await programme.line.jsonHere(["beneficiary", "erase", people[many]?.id ?? "", "--yes", "--compact"]);
    }
    expect(await found(traces)).toEqual([]);
  });
});
