import { type CitizenSession, type Problem, routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultPolicy } from "../../src/config/policy.ts";
import { MovableClock } from "../kit/clock.ts";
import { databases } from "../kit/databases.ts";
import { startNode, type TestNode } from "../kit/node.ts";
import { TestChannel } from "../kit/test-channel.ts";

type Answer = CitizenSession & Problem & { success?: boolean };

/** Addresses are many here: what is tested are the budgets of recipients. */
const policy = { otp: { ...defaultPolicy.otp, perNetwork: { limit: 100_000, window: 300 } } };

describe.each(databases)("attacks on one-time codes, two nodes on $name", ({ fresh }) => {
  let nodes: TestNode[];
  let drop: () => Promise<void>;
  const clock = new MovableClock();
  const sms = new TestChannel("sms", "sms");
  let next = 100;

  beforeAll(async () => {
    const database = await fresh();
    drop = database.drop;
    const start = () => startNode({ database: database.config, clock, policy, channels: [sms] });
    nodes = [await start(), await start()];
    await first().addTenant("demo", { defaultCountry: "KE" });
    await first().addTenant("other", { defaultCountry: "KE" });
  });
  afterAll(async () => {
    for (const node of nodes ?? []) await node.close();
    await drop?.();
  });

  const first = () => {
    const [node] = nodes;
    if (!node) throw new Error("no node");
    return node;
  };
  const node = (index: number) => nodes[index % nodes.length] ?? first();
  const request = (recipient: string, at = 0, headers = {}) =>
    node(at).api.call<Answer>(routes.otpRequest, { body: { recipient }, headers });
  const verify = (body: object, at = 0, headers = {}) => node(at).api.call<Answer>(routes.otpVerify, { body, headers });
  const wrongOf = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

  /** A person with a phone of their own. */
  async function person(): Promise<{ id: string; phone: string; local: string }> {
    next += 1;
    const local = `0712000${next}`;
    return { id: await first().addPerson({ phones: [local] }), phone: `+254712000${next}`, local };
  }

  async function codeOf(phone: string, after = 0): Promise<string> {
    await request(phone);
    return sms.codeFor(phone, after);
  }

  test("50 right codes at once, over two nodes: one wins, and the others lock nobody out", async () => {
    const { phone } = await person();
    const code = await codeOf(phone);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => verify({ recipient: phone, code }, at)));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    for (const answer of answers) expect([200, 401, 429]).toContain(answer.status);
    clock.advance(61);
    const again = await codeOf(phone, sms.sent.length);
    expect((await verify({ recipient: phone, code: again })).status).toBe(200);
  });

  test("200 guesses at once, over two nodes: five are compared, then the code is burnt", async () => {
    const { phone } = await person();
    const code = await codeOf(phone);
    const guesses = Array.from({ length: 200 }, (_, at) => String(at).padStart(6, "0")).filter(
      (guess) => guess !== code,
    );
    const answers = await Promise.all(guesses.map((guess, at) => verify({ recipient: phone, code: guess }, at)));
    expect(answers.every((answer) => [401, 429].includes(answer.status))).toBe(true);
    const { store } = first().app.services;
    const { attempts } = await store.db
      .selectFrom("otp_challenges")
      .select("attempts")
      .orderBy("sent_at", "desc")
      .executeTakeFirstOrThrow();
    expect(attempts).toBe(5);
    // By now this network has asked for codes that are not there too often, too.
    expect(["invalid_code", "too_many_attempts"]).toContain((await verify({ recipient: phone, code })).body.code);
  });

  test("failures count across codes and spellings: after 20 the recipient is closed, also for the right code", async () => {
    const { phone, local } = await person();
    let failures = 0;
    const answers: number[] = [];
    while (failures < 20) {
      const code = await codeOf(phone, sms.sent.length);
      for (let tries = 0; tries < 5 && failures < 20; tries += 1) {
        const spelling = failures % 2 === 0 ? phone : local;
        answers.push((await verify({ recipient: spelling, code: wrongOf(code) }, failures)).status);
        failures += 1;
      }
      clock.advance(601);
    }
    expect(new Set(answers)).toEqual(new Set([401]));
    const code = await codeOf(phone, sms.sent.length);
    const closed = await verify({ recipient: local, code });
    expect(closed.body.code).toBe("too_many_attempts");
    expect(Number(closed.headers.get("retry-after"))).toBeGreaterThan(1000);
    clock.advance(3600);
    const later = await codeOf(phone, sms.sent.length);
    expect((await verify({ recipient: phone, code: later })).status).toBe(200);
  });

  test("a known device has its own budget: others cannot lock its owner out", async () => {
    const { phone } = await person();
    const code = await codeOf(phone);
    const { deviceToken } = (await verify({ recipient: phone, code })).body;
    for (let round = 0; round < 4; round += 1) {
      clock.advance(601);
      const burnt = await codeOf(phone, sms.sent.length);
      for (let tries = 0; tries < 5; tries += 1) await verify({ recipient: phone, code: wrongOf(burnt) });
    }
    clock.advance(601);
    const fresh = await codeOf(phone, sms.sent.length);
    expect((await verify({ recipient: phone, code: fresh })).body.code).toBe("too_many_attempts");
    const owner = await verify({ recipient: phone, code: fresh }, 0, { "x-device-token": deviceToken });
    expect(owner.status, owner.text).toBe(200);
  });

  test("a resend repeats the code and never extends it; within a minute nothing is sent", async () => {
    const { phone } = await person();
    const code = await codeOf(phone);
    const before = sms.sent.length;
    const soon = await request(phone);
    expect(soon.body.success).toBe(true);
    expect(soon.body.expiresIn).toBeLessThanOrEqual(600);
    clock.advance(90);
    const again = await request(phone);
    expect(again.body.expiresIn).toBeLessThanOrEqual(511);
    expect(await sms.codeFor(phone, before)).toBe(code);
    expect(sms.sent.slice(before).filter((message) => message.to === phone)).toHaveLength(1);
    clock.advance(512);
    expect((await verify({ recipient: phone, code })).body.code).toBe("invalid_code");
  });

  test("three messages in ten minutes and ten a day, for known and unknown alike", async () => {
    const { phone } = await person();
    for (const recipient of [phone, "+254712999888"]) {
      const statuses: number[] = [];
      for (let asked = 0; asked < 4; asked += 1) {
        statuses.push((await request(recipient, asked)).status);
        clock.advance(61);
      }
      expect(statuses).toEqual([200, 200, 200, 429]);
      let day = 3;
      for (let round = 0; round < 12; round += 1) {
        clock.advance(601);
        if ((await request(recipient)).status === 200) day += 1;
      }
      expect(day).toBe(10);
      clock.advance(86_400);
      expect((await request(recipient)).status).toBe(200);
    }
  });

  test("known and unknown recipients answer alike through a whole sequence of calls", async () => {
    const { phone } = await person();
    const walk = async (recipient: string) => {
      const seen: unknown[] = [];
      const note = (answer: { status: number; body: unknown; headers: Headers }) => {
        const { instance: _, ...body } = answer.body as Record<string, unknown>;
        const names = [...answer.headers.keys()].sort();
        seen.push({ status: answer.status, body, names });
      };
      note(await request(recipient));
      note(await request(recipient));
      for (let tries = 0; tries < 7; tries += 1) note(await verify({ recipient, code: "000000" }));
      clock.advance(61);
      note(await request(recipient));
      for (let tries = 0; tries < 6; tries += 1) note(await verify({ recipient, code: "000001" }, tries));
      clock.advance(61);
      note(await request(recipient));
      clock.advance(61);
      note(await request(recipient));
      clock.advance(601);
      note(await verify({ recipient, code: "000000" }));
      return seen;
    };
    const known = await walk(phone);
    const unknown = await walk("+254712888777");
    expect(JSON.parse(JSON.stringify(unknown))).toEqual(JSON.parse(JSON.stringify(known)));
  });

  test("a code, a choice and a challenge of one tenant are nothing in another", async () => {
    const { phone } = await person();
    await first().addPerson({ phones: [phone] }, "other");
    const code = await codeOf(phone);
    const elsewhere = await verify({ recipient: phone, code, tenantId: "other" });
    expect(elsewhere.body.code).toBe("invalid_code");
    expect((await verify({ recipient: phone, code })).status).toBe(200);
  });

  test("nothing at rest is a code, a phone number or a name", async () => {
    const id = await first().addPerson({ names: { given: "Mwanaisha" }, phones: ["0712555444"] });
    const code = await codeOf("+254712555444");
    const { store } = first().app.services;
    const tables = [
      "beneficiaries",
      "identifiers",
      "otp_challenges",
      "outbox",
      "handles",
      "budgets",
      "journal_events",
    ] as const;
    for (const table of tables) {
      const text = JSON.stringify(await store.db.selectFrom(table).selectAll().execute());
      expect(text).not.toMatch(/Mwanaisha|712555444/);
      expect(text).not.toContain(`"${code}"`);
    }
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each<[string, unknown]>([
    ["a number", 123456],
    ["an array", ["123456"]],
    ["an object", { $gt: "" }],
    ["five digits", "12345"],
    ["letters", "12345a"],
    ["full-width digits", "１２３４５６"],
    ["a sign", "+12345"],
  ])("%s as a code is refused and names the field", async (_name, code) => {
    const answer = await verify({ recipient: "+254712000100", code });
    expect(answer.body).toMatchObject({ code: "invalid_request", field: "code" });
  });

  test.each([
    [{}, "recipient"],
    [{ recipient: "0712000101" }, "code"],
    [{ code: "123456" }, "recipient"],
    [{ selectionToken: "x".repeat(43) }, "entityId"],
    [{ challenge: "x".repeat(43) }, "code"],
    [{ recipient: "0712000101", code: "123456", challenge: "x".repeat(43) }, "challenge"],
  ])("%j is not a way to verify", async (body, field) => {
    expect((await verify(body)).body).toMatchObject({ code: "invalid_request", field });
  });

  test("codes are sent to the tenant's own country alone", async () => {
    expect((await request("+4915112345678")).body).toMatchObject({ code: "invalid_request", field: "recipient" });
    expect((await request("nobody")).body).toMatchObject({ code: "invalid_request", field: "recipient" });
  });
});
