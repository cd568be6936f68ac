import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { parseDelivery } from "../../src/config/parse-delivery.ts";
import { MovableClock } from "../kit/clock.ts";
import { databases } from "../kit/databases.ts";
import { type Asked, answerJson, type GatewayServer } from "./gateway-server.ts";
import { gatewayFor, PostOffice, until } from "./post-office.ts";

const secret = randomBytes(24).toString("base64url");
const receipts = { secret, id: "id", status: "report.status", delivered: ["delivered", 0], failed: ["failed", 9] };
const json = { to: "{to}", text: "{text}", callback: "{receipts}" };
const phone = "+254712000001";

/** A gateway with a name for each message, which posts what became of it where it was told to. */
const withReceipts = async (name: string) => {
  const made = await gatewayFor(name, { json, receipts });
  made.gateway.answer = (response) => answerJson(200, { id: `${name}-${made.gateway.asked.length}` })(response);
  return made;
};

const callbackOf = (asked: Asked | undefined) => (JSON.parse(asked?.body ?? "{}") as { callback: string }).callback;

function post(url: string, body: string | object, type = "application/json"): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return fetch(url, { method: "POST", headers: { "content-type": type }, body: text });
}

async function report(gateway: GatewayServer, id: string, status: string | number): Promise<number> {
  const response = await post(callbackOf(gateway.asked[0]), { id, report: { status }, more: [1, { a: null }] });
  expect(await response.text()).toBe("");
  return response.status;
}

async function counted(office: PostOffice, metric: string): Promise<string[]> {
  const text = await office.node.app.http.httpSettings.metrics.registry.metrics();
  return text.split("\n").filter((line) => line.startsWith(`${metric}{`));
}

describe.each(databases)("a receipt that a gateway posts, on $name", ({ fresh }) => {
  test("says that a message arrived, and is counted once however often it comes", async () => {
    const { gateway, channel } = await withReceipts("gw");
    const office = await PostOffice.open(fresh, { delivery: [channel] });
    await office.ask(phone);
    await office.until("sent");
    expect(callbackOf(gateway.asked[0])).toBe(`${office.node.url}/api/delivery/receipts/gw/${secret}`);

    expect(await report(gateway, "gw-1", "on its way")).toBe(204);
    expect(await office.states()).toEqual(["sent"]);
    expect(await report(gateway, "gw-1", 0)).toBe(204);
    expect(await office.states()).toEqual(["delivered"]);
    expect(await report(gateway, "gw-1", "failed")).toBe(204);
    expect(await report(gateway, "gw-1", "delivered")).toBe(204);
    expect(await office.states()).toEqual(["delivered"]);
    expect(await counted(office, "fieldgate_messages_total")).toContain(
      'fieldgate_messages_total{tenant="demo",channel="gw",outcome="delivered"} 1',
    );
    expect((await counted(office, "fieldgate_receipts_total")).toSorted()).toEqual([
      'fieldgate_receipts_total{channel="gw",result="delivered"} 1',
      'fieldgate_receipts_total{channel="gw",result="on_its_way"} 1',
      'fieldgate_receipts_total{channel="gw",result="unknown"} 2',
    ]);
  });

  test("of a failure sends the message by the next channel, once, also when it comes many times at once", async () => {
    const [first, second] = [await withReceipts("first"), await withReceipts("second")];
    const office = await PostOffice.open(fresh, { delivery: [first.channel, second.channel] });
    await office.ask(phone);
    await office.until("sent");
    const burst = () => Promise.all(Array.from({ length: 20 }, () => report(first.gateway, "first-1", "failed")));
    expect(new Set(await burst())).toEqual(new Set([204]));
    await until(async () =>
      (await office.messages()).every(({ channel, state }) => channel === "second" && state === "sent"),
    );
    await burst();
    expect(await office.messages()).toMatchObject([{ state: "sent", channel: "second", provider_id: "second-1" }]);
    expect([first.gateway.asked.length, second.gateway.asked.length]).toEqual([1, 1]);
    // The same code, and no other way is left.
    const texts = [first, second].map(
      ({ gateway }) => (JSON.parse(gateway.asked[0]?.body ?? "") as { text: string }).text,
    );
    expect(texts[0]).toBe(texts[1]);
    await report(second.gateway, "second-1", 9);
    expect(await office.states()).toEqual(["failed"]);
    expect(await office.events("otp.undelivered")).toEqual([{ medium: "sms", channel: "second", reason: "receipt" }]);
    expect([first.gateway.asked.length, second.gateway.asked.length]).toEqual([1, 1]);
  });

  test("that comes after the code's life sends nothing", async () => {
    const clock = new MovableClock();
    const [first, second] = [await withReceipts("first"), await withReceipts("second")];
    const office = await PostOffice.open(fresh, { delivery: [first.channel, second.channel], clock });
    await office.ask(phone);
    await office.until("sent");
    clock.advance(600);
    await report(first.gateway, "first-1", "failed");
    expect(await office.states()).toEqual(["failed"]);
    expect(second.gateway.asked).toEqual([]);
  });

  test("may overtake the answer of a gateway that hangs", async () => {
    const { gateway, channel } = await withReceipts("gw");
    gateway.answer = (response, asked) => {
      void post(callbackOf(asked), { id: "early", report: { status: "delivered" } }).then(() =>
        answerJson(200, { id: "early" })(response),
      );
    };
    const office = await PostOffice.open(fresh, { delivery: [channel] });
    await office.ask(phone);
    await office.until("delivered");
    expect(gateway.asked).toHaveLength(1);
  });
});

const [sqlite] = databases.filter(({ name }) => name === "sqlite");

describe("what is posted", () => {
  test("is a form or JSON; nobody learns which messages there are", async () => {
    const { channel } = await withReceipts("gw");
    const plain = await gatewayFor("plain");
    if (!sqlite) throw new Error("There is no SQLite.");
    const office = await PostOffice.open(sqlite.fresh, { delivery: [channel, plain.channel] });
    const place = `${office.node.url}/api/delivery/receipts`;
    const own = `${place}/gw/${secret}`;
    const form = "application/x-www-form-urlencoded";

    for (const [body, type] of [
      [{ id: "nobody's", report: { status: "delivered" } }],
      [{ id: "nobody's", report: { status: "failed" } }],
      [{ id: 7, report: { status: 9 } }],
      [{ id: ["gw-1"], report: { status: {} } }],
      [{ id: "x".repeat(5000), report: { status: "failed" } }],
      [{}],
      ["id=gw-1&status=delivered&__proto__=x", form],
      ["", `${form}; charset=utf-8`],
    ] as [string | object, string?][]) {
      const answer = await post(own, body, type);
      expect([answer.status, await answer.text()], JSON.stringify(body)).toEqual([204, ""]);
    }

    const wrong = ["x", `${secret}x`, secret.slice(1), secret.toUpperCase(), "%00"].map(
      (guess) => `${place}/gw/${guess}`,
    );
    for (const url of [...wrong, `${place}/plain/${secret}`, `${place}/other/${secret}`, `${place}/plain/undefined`]) {
      const answer = await post(url, { id: "gw-1", report: { status: "delivered" } });
      expect([400, 404], url).toContain(answer.status);
      expect(await answer.text()).not.toContain(secret);
    }

    expect((await post(own, "id=1&id=2", form)).status).toBe(400);
    expect((await post(own, "[1]")).status).toBe(400);
    expect((await post(own, "{")).status).toBe(400);
    expect((await post(own, "x", "text/plain")).status).toBe(415);
    expect((await post(own, `id=${"x".repeat(20_000)}`, form)).status).toBe(413);
    expect((await fetch(own)).status).toBe(405);
    const elsewhere = await post(`${office.node.url}/api/auth/otp/request`, "recipient=%2B254712000001", form);
    expect(elsewhere.status).toBe(415);
  });
});

describe("the configuration", () => {
  const problemsOf = (...channels: object[]) =>
    parseDelivery(JSON.stringify(channels), () => "").problems.map(
      ({ variable, sentence }) => `${variable} ${sentence}`,
    );
  const http = { type: "http", url: "https://sms.example.org/", json: { to: "{to}" }, messageId: "id", receipts };

  test("names what is wrong", () => {
    expect(problemsOf(http)).toEqual([]);
    expect(problemsOf({ ...http, receipts: { ...receipts, secret: "short" } })[0]).toMatch(
      /^FIELDGATE_DELIVERY\[0\]\.receipts\.secret must be 22 to 64/,
    );
    expect(problemsOf({ ...http, messageId: undefined })[0]).toMatch(/messageId is missing/);
    expect(problemsOf({ ...http, receipts: { ...receipts, failed: "no" } })[0]).toMatch(
      /receipts\.failed must be a list/,
    );
    expect(problemsOf({ ...http, receipts: { ...receipts, id: undefined } })[0]).toMatch(/receipts\.id is missing/);
    expect(problemsOf({ ...http, receipts: { ...receipts, sceret: "x" } })[0]).toMatch(/receipts\.sceret is not known/);
    expect(problemsOf({ ...http, receipts: undefined, json: { to: "{to}", cb: "{receipts}" } })[0]).toMatch(
      /json has \{receipts\}, but no receipts/,
    );
  });

  test.each([
    [
      "twilio",
      { accountSid: "AC1", authToken: "t", from: "+1" },
      "StatusCallback",
      "MessageSid=SM1&MessageStatus=undelivered",
    ],
    ["vonage", { apiKey: "k", apiSecret: "s", from: "P" }, "callback", "messageId=SM1&status=failed"],
    ["africastalking", { username: "u", apiKey: "k" }, null, "id=SM1&status=AbsentSubscriber"],
  ])("of %s needs the secret alone", async (type, own, askedBy, written) => {
    const answers = {
      twilio: { sid: "SM1" },
      vonage: { messages: [{ status: "0", "message-id": "SM1" }] },
      africastalking: { SMSMessageData: { Recipients: [{ statusCode: 101, messageId: "SM1" }] } },
    };
    const { gateway } = await gatewayFor(type);
    gateway.answer = answerJson(201, answers[type as keyof typeof answers]);
    if (!sqlite) throw new Error("There is no SQLite.");
    const channel = { type, ...own, baseUrl: gateway.url, receipts: { secret } };
    const office = await PostOffice.open(sqlite.fresh, { delivery: [channel] });
    await office.ask(phone);
    await office.until("sent");
    const url = `${office.node.url}/api/delivery/receipts/${type}/${secret}`;
    const form = new URLSearchParams(gateway.asked[0]?.body);
    if (askedBy !== null) expect(form.get(askedBy)).toBe(url);
    else expect([...form.values()].join()).not.toContain(secret);
    expect((await post(url, written, "application/x-www-form-urlencoded")).status).toBe(204);
    expect(await office.states()).toEqual(["failed"]);
    expect(problemsOf({ ...channel, receipts: {} })[0]).toMatch(/receipts\.secret is missing/);
    expect(problemsOf({ ...channel, receipts: { secret, id: "x" } })[0]).toMatch(/receipts\.id is not known/);
    expect(problemsOf({ ...channel, receipts: undefined })).toEqual([]);
  });
});
