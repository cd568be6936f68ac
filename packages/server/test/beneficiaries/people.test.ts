import { statSync } from "node:fs";
import { type CitizenSession, type Problem, routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { keepHouse } from "../../src/flows/housekeeping.ts";
import { findBeneficiary } from "../../src/store/beneficiaries.ts";
import { openStore } from "../../src/store/open-store.ts";
import { MovableClock } from "../kit/clock.ts";
import { databaseUrl } from "../kit/command-line.ts";
import { databases } from "../kit/databases.ts";
import { startNode, type TestNode } from "../kit/node.ts";
import { TestChannel } from "../kit/test-channel.ts";
import { Programme } from "./programme.ts";

type Answer = CitizenSession & Problem;
type Shown = { id: string; externalId: string | null; names: object; phones: string[]; disabled: boolean }[];

describe.each(databases)("people on the command line, on $name", (database) => {
  let programme: Programme;
  let node: TestNode;
  const clock = new MovableClock();
  const sms = new TestChannel("sms", "sms");
  beforeAll(async () => {
    programme = await Programme.open(database);
    node = await startNode({ database: programme.config, channels: [sms], clock });
  });
  afterAll(async () => {
    await node?.close();
    await programme?.close();
  });

  const here = (...args: string[]) => programme.line.runHere(["beneficiary", ...args]);
  const json = <T = Record<string, unknown>>(...args: string[]) => programme.line.jsonHere<T>(["beneficiary", ...args]);
  const signIn = async (phone: string) => {
    const after = sms.sent.length;
    await node.api.call<Answer>(routes.otpRequest, { body: { recipient: phone } });
    const code = await sms.codeFor(phone, after);
    return node.api.call<Answer>(routes.otpVerify, { body: { recipient: phone, code } });
  };

  test("add, with options or as JSON; what is wrong is told without its value", async () => {
    const options = [
      "--external-id",
      "S-1",
      "--given-name",
      "Amina",
      "--family-name",
      "Otieno",
      "--phone",
      "0712000001",
    ];
    const added = await json<{ id: string }>(
      "add",
      ...options,
      "--national-id",
      "nid:S1",
      "--date-of-birth",
      "1984-05-06",
    );
    expect(added).toMatchObject({ externalId: "S-1", names: { given: "A•••" }, phones: ["••••••001"] });
    const piped = await programme.line.runHere(["beneficiary", "add", "--stdin"], {
      input: JSON.stringify({
        external_id: "S-2",
        full_name: "Juma Ali",
        phones: ["0712000001"],
        emails: ["j@example.org"],
      }),
    });
    expect(piped).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Added [0-9a-f-]{36} to demo\.\n$/) });

    expect(await here("add", "--given-name", "X", "--phone", "0712-secret")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: phones\[0\] is not a phone number(?!.*secret)/),
    });
    expect((await here("add", "--given-name", "X", "--national-id", "nid:s 1")).stderr).toMatch(/has this ID number/);
    expect((await here("add", "--given-name", "X", "--external-id", " S-1 ")).stderr).toMatch(
      /external id is there already/,
    );
    expect((await here("add", "--phone", "0712000001")).stderr).toMatch(/given_name is missing/);
    const strange = await programme.line.runHere(["beneficiary", "add", "--stdin"], { input: '{"phone":"1"}' });
    expect(strange.stderr).toMatch(/"phone" is not known\. Did you mean phones\?/);
    expect(await programme.events("beneficiary.added")).toHaveLength(2);
  });

  test("show masks, and reveals only with a trace in the journal", async () => {
    const { stdout } = await here("show", "S-1");
    for (const secret of ["Amina", "Otieno", "1984", "712000001", "S1\n"]) expect(stdout).not.toContain(secret);
    expect(stdout).toMatch(/^Phones {7}••••••001$/m);
    const [masked] = await json<Shown>("show", "--external-id", "S-1");
    expect(masked).toMatchObject({
      names: { given: "A•••", family: "O•••" },
      birth: { date: "••••-••-••", precision: "day" },
    });
    expect(await programme.events("beneficiary.revealed")).toEqual([]);

    const household = await json<Shown>("show", "--phone", "+254 712 000 001", "--reveal");
    expect(household.map(({ names }) => names)).toEqual([
      { given: "Amina", family: "Otieno" },
      { given: "Juma", full: "Juma Ali" },
    ]);
    const revealed = await programme.events("beneficiary.revealed");
    expect(revealed.map(({ subject }) => subject).toSorted()).toEqual(household.map(({ id }) => id).toSorted());
    expect(await json<Shown>("show", "--email", "J@Example.org")).toHaveLength(1);
    expect(await json<Shown>("show", "--national-id", "s-1")).toMatchObject([{ externalId: "S-1" }]);
    expect(await json<Shown>("show", masked?.id ?? "")).toHaveLength(1);
    expect(await here("show")).toMatchObject({ code: 2, stderr: expect.stringContaining("Say whom to show") });
    expect(await here("show", "S-9")).toMatchObject({ code: 1, stderr: expect.stringContaining('no person "S-9"') });
    expect(await here("show", "--phone", "0712999999")).toMatchObject({ code: 1 });
  });

  test("disable ends sessions and frees the ID number; enable asks for it back", async () => {
    await json(
      "add",
      "--external-id",
      "D-1",
      "--given-name",
      "Dalila",
      "--phone",
      "0712000002",
      "--national-id",
      "nid:D1",
    );
    const { token } = (await signIn("+254712000002")).body;
    expect((await node.api.me(token)).status).toBe(200);
    expect(await json("disable", "D-1")).toMatchObject({ disabled: true, changed: true });
    await expect.poll(async () => (await node.api.me(token)).status, { timeout: 6000 }).toBe(401);
    expect(await json("disable", "D-1")).toMatchObject({ changed: false });
    await json("add", "--external-id", "D-2", "--given-name", "Other", "--national-id", "nid:D1");
    expect((await here("enable", "D-1")).stderr).toMatch(/has this ID number/);
    await json("disable", "D-2");
    expect(await json("enable", "D-1")).toMatchObject({ disabled: false, changed: true });
    expect(await json("list", "--disabled")).toMatchObject({ disabled: 1, people: [{ externalId: "D-2" }] });
  });

  test("list counts, and goes through everyone page by page", async () => {
    const seen: string[] = [];
    for (let after: string[] = []; ; ) {
      const { people } = await json<{ people: Shown }>("list", "--limit", "2", ...after);
      seen.push(...people.map(({ externalId }) => externalId ?? ""));
      const last = people.at(-1);
      if (!last) break;
      after = ["--after", last.id];
    }
    expect(seen.toSorted()).toEqual(["D-1", "D-2", "S-1", "S-2"]);
    expect((await here("list", "--limit", "0")).stdout).toBe("3 active, 1 disabled.\n");
  });

  test.each(["csv", "ndjson"])("an export as %s can be imported elsewhere, and is journalled", async (format) => {
    const { code, stdout } = await here("export", "--format", format, "--output", `out.${format}`, "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ people: 4 });
    expect(statSync(programme.path(`out.${format}`)).mode & 0o777).toBe(0o600);
    expect((await here("export", "--output", `out.${format}`)).stderr).toMatch(/already a file/);
    if (format === "csv") {
      expect(programme.read("out.csv")).toContain(",'+254712000001,");
      expect((await here("export", "--raw")).stdout).toContain(",+254712000001,");
    }
    const tenant = `from-${format}`;
    await programme.line.jsonHere(["tenant", "add", tenant, "--country", "KE"]);
    expect(await programme.import([`out.${format}`, "--tenant", tenant])).toMatchObject({ added: 4, rejected: 0 });
    const facts = async (id: string) => {
      const { code: exit, stdout: text } = await here("export", "--tenant", id, "--format", "ndjson");
      expect(exit).toBe(0);
      const lines = text.trimEnd().split("\n");
      return lines
        .map((line) => ({ ...JSON.parse(line), id: "" }))
        .toSorted((a, b) => (a.external_id < b.external_id ? -1 : 1));
    };
    expect(await facts(tenant)).toEqual(await facts("demo"));
    const exported = await programme.events("beneficiary.exported");
    expect(exported[0]).toMatchObject({ data: { count: 4 } });
  });

  test("merge makes one person of two: identifiers and cards move, sessions end, nothing of the other is left", async () => {
    await json(
      "add",
      "--external-id",
      "M-1",
      "--given-name",
      "Mary",
      "--phone",
      "0712000003",
      "--national-id",
      "nid:M1",
    );
    await json(
      "add",
      "--external-id",
      "M-2",
      "--given-name",
      "Maria",
      "--phone",
      "0712000004",
      "--date-of-birth",
      "1990",
      "--language",
      "sw",
    );
    const into = await programme.person("M-1");
    const from = await programme.person("M-2");
    const { cards } = await programme.line.jsonHere<{ cards: { number: string; text?: string }[] }>([
      "card",
      "issue",
      "M-2",
    ]);
    expect(cards).toHaveLength(1);
    const { token } = (await signIn("+254712000004")).body;

    expect((await here("merge", "M-2", "M-1")).stderr).toMatch(/no terminal to ask on: add --yes/);
    expect(await json("merge", "M-2", "M-1", "--yes")).toMatchObject({ id: into.id, merged: from.id });
    expect(await programme.person("M-1")).toMatchObject({
      id: into.id,
      names: { given: "Mary" },
      birth: { year: 1990 },
      language: "sw",
      phones: ["+254712000003", "+254712000004"],
      nationalIds: [{ type: "nid", number: "M1" }],
    });
    expect(await findBeneficiary(programme.store, await programme.cipher(), from.id)).toBeNull();
    await expect.poll(async () => (await node.api.me(token)).status, { timeout: 6000 }).toBe(401);
    const [card] = await programme.store.db.selectFrom("cards").selectAll().execute();
    expect(card).toMatchObject({ beneficiary_id: into.id, revoked_at: null });
    expect((await signIn("+254712000004")).body.username).toBe(`self-service:${into.id}`);
    expect(await programme.events("beneficiary.merged")).toMatchObject([{ subject: from.id, data: { into: into.id } }]);
    expect(await programme.events("beneficiary.erased")).toMatchObject([
      { subject: from.id, data: { reason: "merged" } },
    ]);
    expect((await here("merge", "M-1", into.id, "--yes")).stderr).toMatch(/one and the same person/);
    expect((await here("merge", "M-1", "D-2", "--yes")).stderr).toMatch(/is disabled/);
  });

  test("a backup brings everyone back on either database; codes and choices on their way are over", async () => {
    await node.api.call<Answer>(routes.otpRequest, { body: { recipient: "+254712000003" } });
    await programme.line.jsonHere(["backup", "people.gz"]);
    for (const other of databases) {
      const target = await other.fresh({ empty: true });
      const env = { FIELDGATE_DATABASE_URL: databaseUrl(target.config) };
      const restored = await programme.line.runHere(["restore", "people.gz", "--json"], { env });
      expect(restored.code, restored.stderr).toBe(0);
      const { rows } = JSON.parse(restored.stdout);
      expect(rows.otp_challenges).toBeGreaterThan(0);
      const shown = await programme.line.runHere(
        ["beneficiary", "show", "--phone", "0712000004", "--reveal", "--json"],
        { env },
      );
      expect(JSON.parse(shown.stdout)).toMatchObject([{ externalId: "M-1", names: { given: "Mary" } }]);
      const store = await openStore(target.config, systemClock);
      for (const table of ["otp_challenges", "handles", "outbox"] as const) {
        expect(await store.db.selectFrom(table).selectAll().execute()).toEqual([]);
      }
      await store.close();
      await target.drop();
    }
  });

  test("retention erases who was disabled long ago, and nobody else", async () => {
    const settings = { defaultCountry: "KE", retention: { disabledAfterDays: 30 } };
    await programme.line.jsonHere(["tenant", "set", "demo", "--settings", "-"], { input: JSON.stringify(settings) });
    const gone = await programme.person("D-2");
    expect(await keepHouse(node.app.services)).toBe(0);
    clock.advance(29 * 86_400);
    expect(await keepHouse(node.app.services)).toBe(0);
    clock.advance(86_400);
    expect(await keepHouse(node.app.services)).toBe(1);
    const left = (await programme.everyone()).map(({ externalId }) => externalId);
    expect(left.toSorted()).toEqual(["D-1", "M-1", "S-1", "S-2"]);
    expect(await programme.events("beneficiary.erased")).toContainEqual({
      subject: gone.id,
      data: { reason: "retention" },
    });
  });
});
