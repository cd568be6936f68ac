import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type CitizenSession, type Problem, routes } from "@fieldgate/contract";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { outcomeOf } from "../kit/command-line.ts";
import { databases } from "../kit/databases.ts";
import { startNode, type TestNode } from "../kit/node.ts";
import { TestChannel } from "../kit/test-channel.ts";
import { type ImportAnswer, manyPeople, Programme } from "./programme.ts";

type Answer = CitizenSession & Problem;

describe.each(databases)("an import on $name", (database) => {
  let programme: Programme;
  beforeEach(async () => {
    programme = await Programme.open(database);
  });
  afterEach(() => programme?.close());

  const count = async () => {
    const { total } = await programme.store.db
      .selectFrom("beneficiaries")
      .select((eb) => eb.fn.countAll<number>().as("total"))
      .executeTakeFirstOrThrow();
    return Number(total);
  };
  /** Everyone is there once, with everything, and nobody else. */
  const demandAll = async (total: number) => {
    const people = await programme.everyone();
    expect(people).toHaveLength(total);
    expect(new Set(people.map(({ externalId }) => externalId)).size).toBe(total);
    expect(
      people.every(({ phones, emails, nationalIds }) => phones.length + emails.length + nationalIds.length === 3),
    ).toBe(true);
    const identifiers = await programme.store.db.selectFrom("identifiers").select("id").execute();
    expect(identifiers).toHaveLength(3 * total);
  };

  test("killed half-way goes on where it was, without a loss or a double", async () => {
    const total = 6000;
    const lines = manyPeople(total);
    // A bad row near the beginning and one near the end: each is in the reject file once.
    lines.splice(100, 0, "bad-1,,,,,,");
    lines.push("bad-2,,,,,,");
    programme.write("people.csv", lines);
    const child = programme.line.spawn(["beneficiary", "import", "people.csv", "--batch", "50"]);
    await expect.poll(count, { timeout: 20_000, interval: 20 }).toBeGreaterThan(500);
    child.kill("SIGKILL");
    await once(child, "exit");
    const before = await count();
    expect(before).toBeLessThan(total);
    // Whole batches only.
    expect(await programme.store.db.selectFrom("identifiers").select("id").execute()).toHaveLength(3 * before);

    const args = ["beneficiary", "import", "people.csv", "--json"];
    const hint = await programme.line.runHere([...args.slice(0, 3), "--dry-run", "--json"]);
    expect(JSON.parse(hint.stdout)).toMatchObject({ added: total - before, unchanged: before, rejected: 2 });

    const resumed = await programme.line.runHere([...args, "--resume"]);
    const answer = JSON.parse(resumed.stdout || resumed.stderr) as ImportAnswer;
    // The killed run may have written a batch or more behind its last checkpoint; those rows are as they were.
    expect(answer).toMatchObject({ rows: total + 2, changed: 0, rejected: 2 });
    expect(answer.added + answer.unchanged).toBe(total);
    const rejects = programme.read("people.csv.rejects.csv").trimEnd().split("\n").slice(1);
    expect(rejects.map((line) => line.split(",")[0])).toEqual(["101", String(total + 3)]);
    await demandAll(total);
    expect(() => readFileSync(programme.path("people.csv.checkpoint.json"))).toThrow("ENOENT");
    // And the whole once more changes nothing.
    expect(await programme.import(["people.csv"])).toMatchObject({ unchanged: total, added: 0 });
  }, 120_000);

  test("asked to stop finishes its batch and says how to go on", async () => {
    programme.write("people.csv", manyPeople(6000));
    const child = programme.line.spawn(["beneficiary", "import", "people.csv", "--batch", "50"]);
    const ended = outcomeOf(child);
    await expect.poll(count, { timeout: 20_000, interval: 20 }).toBeGreaterThan(300);
    child.kill("SIGINT");
    const { code, stderr } = await ended;
    expect(code).toBe(1);
    const line = Number(/Stopped after line (\d+)\./.exec(stderr)?.[1]);
    expect(stderr).toContain(`beneficiary import ${programme.path("people.csv")} --tenant demo --resume`);
    expect(await count()).toBe(line - 1);
    const again = await programme.line.runHere(["beneficiary", "import", "people.csv", "--resume", "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({ rows: 6000, added: 6000, unchanged: 0 });
    await demandAll(6000);
  }, 120_000);
});

describe.each(databases)("an import beside a running service on $name", (database) => {
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

  const total = database.name === "sqlite" ? 20_000 : 4000;
  test(`${total} rows in bounded memory; whoever came in signs in at once, and nobody waits long`, async () => {
    programme.write("people.csv", manyPeople(total));
    const child = programme.line.spawn(["beneficiary", "import", "people.csv", "--json"]);
    const ended = outcomeOf(child);
    let done = false;
    void ended.then(() => {
      done = true;
    });
    await expect
      .poll(async () => (await programme.store.db.selectFrom("beneficiaries").select("id").limit(1).execute()).length, {
        timeout: 20_000,
      })
      .toBe(1);

    const phone = "+254710000007";
    const body = { recipient: phone };
    expect((await node.api.call<Answer>(routes.otpRequest, { body })).status).toBe(200);
    const code = await sms.codeFor(phone);
    const answer = await node.api.call<Answer>(routes.otpVerify, { body: { recipient: phone, code } });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.username).toBe(`self-service:${(await programme.person("P-7")).id}`);

    const waits: number[] = [];
    let highest = 0;
    while (!done) {
      const start = performance.now();
      const wrong = { idNumber: `unknown-${waits.length}`, dateOfBirth: "1990-01-01" };
      const refused = await node.api.call<Answer>(routes.idVerify, { body: { ...wrong, tenantId: "demo" } });
      expect([401, 429]).toContain(refused.status);
      waits.push(performance.now() - start);
      highest = Math.max(highest, residentMegabytes(child.pid ?? 0));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const { code: exitCode, stdout } = await ended;
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ rows: total, added: total, rejected: 0 });
    // Reads 17 MB of text into a database of 30 MB; what it holds at a time is a batch, SQLite's cache and Node itself.
    expect(highest).toBeGreaterThan(50);
    expect(highest).toBeLessThan(600);
    expect(waits.length).toBeGreaterThan(3);
    expect(Math.max(...waits)).toBeLessThan(5000);
  });
});

function residentMegabytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
