import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseDelivery } from "../../src/config/parse-delivery.ts";
import { type Channel, ChannelBusy, ChannelRefused, type OutboundMessage } from "../../src/delivery/channel.ts";
import { openChannels } from "../../src/delivery/open-channels.ts";
import { answerJson, type GatewayServer, startGateway } from "./gateway-server.ts";

let gateway: GatewayServer;
beforeEach(async () => {
  gateway = await startGateway();
});
afterEach(() => gateway.stop());

/** As an operator would write it. */
async function channelOf(written: Record<string, unknown>): Promise<Channel> {
  const { channels, problems } = parseDelivery(JSON.stringify([written]), () => "");
  expect(problems).toEqual([]);
  const [channel] = await openChannels(channels, { baseUrl: "https://id.example.org" });
  if (!channel) throw new Error("There is no channel.");
  return channel;
}

const toGateway = (own: Record<string, unknown>) =>
  channelOf({ type: "http", name: "gw", url: `${gateway.url}/send`, json: { to: "{to}", text: "{text}" }, ...own });

const soon = () => AbortSignal.timeout(5000);
const nasty = 'Quote " \\ & <b> 100% {to} +a=b\n\nرمزك 😀 @id.example.org #123456';
const sms = (own: Partial<OutboundMessage> = {}): OutboundMessage => ({
  id: "5f0c1d2e-0000-4000-8000-000000000001",
  tenantId: "kenya",
  to: "+254712000001",
  subject: "Your code",
  text: nasty,
  ...own,
});

async function failureOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => {
      throw new Error("It was sent.");
    },
    (error: unknown) => error as Error,
  );
}

describe("a request", () => {
  test("in JSON: each value is text, whatever it holds", async () => {
    const json = { messages: [{ to: "{to}", body: "To {to}: {text}", unicode: "{alphabet}", n: 1, yes: true }] };
    const channel = await toGateway({ json, headers: { "X-Ref": "r-{id}" }, messageId: "id" });
    expect(await channel.send(sms(), soon())).toEqual({ providerId: "m-1", parts: 1 });
    const [asked] = gateway.asked;
    expect(JSON.parse(asked?.body ?? "")).toEqual({
      messages: [{ to: "+254712000001", body: `To +254712000001: ${nasty}`, unicode: "unicode", n: 1, yes: true }],
    });
    expect(asked?.headers).toMatchObject({
      "content-type": "application/json",
      "idempotency-key": sms().id,
      "x-ref": `r-${sms().id}`,
    });
  });

  test("as a form", async () => {
    const channel = await toGateway({ json: undefined, form: { To: "{toDigits}", Body: "{text}", Fixed: "a&b" } });
    await channel.send(sms(), soon());
    expect(Object.fromEntries(new URLSearchParams(gateway.asked[0]?.body))).toEqual({
      To: "254712000001",
      Body: nasty,
      Fixed: "a&b",
    });
  });

  test("in XML, and as any text", async () => {
    const text = '<sms to="{to}">{text}</sms>';
    const xml = await toGateway({ json: undefined, text, contentType: "application/soap+xml; charset=utf-8" });
    await xml.send(sms({ text: `<&>"'\u0001` }), soon());
    expect(gateway.asked[0]?.body).toBe('<sms to="+254712000001">&lt;&amp;&gt;&quot;&apos;</sms>');
    const json = await toGateway({ json: undefined, text: '{"t":"{text}"}', contentType: "application/json" });
    await json.send(sms(), soon());
    expect(JSON.parse(gateway.asked[1]?.body ?? "")).toEqual({ t: nasty });
    const plain = await toGateway({ json: undefined, text: "{to} {text}" });
    await plain.send(sms(), soon());
    expect(gateway.asked[2]?.body).toBe(`+254712000001 ${nasty}`);
  });

  test("with everything in the address", async () => {
    const url = `${gateway.url}/send/{toDigits}?text={text}&ref={id}`;
    const channel = await channelOf({ type: "http", method: "GET", url });
    await channel.send(sms({ text: `a/b?c#d&e=f ${nasty}` }), soon());
    const asked = new URL(gateway.asked[0]?.url ?? "", gateway.url);
    expect(asked.pathname).toBe("/send/254712000001");
    expect(asked.searchParams.get("text")).toBe(`a/b?c#d&e=f ${nasty}`);
    expect([...asked.searchParams.keys()]).toEqual(["text", "ref"]);
  });
});

describe("an answer", () => {
  const rule = { success: { status: [200, 299], path: "result.status", in: ["ok", 0] }, messageId: "result.ids[1]" };

  test("means success where the rule says so", async () => {
    const channel = await toGateway(rule);
    gateway.answer = answerJson(202, { result: { status: "0", ids: ["a", 77] } });
    expect(await channel.send(sms(), soon())).toMatchObject({ providerId: "77" });
    for (const body of [{ result: { status: "no" } }, { result: null }, [], "x", null]) {
      gateway.answer = answerJson(200, body);
      const failure = await failureOf(channel.send(sms(), soon()));
      expect(failure.message).toBe("gw answered 200, but not with what means success.");
      expect(failure).not.toBeInstanceOf(ChannelRefused);
    }
  });

  test("that only has to exist", async () => {
    const channel = await toGateway({ success: { path: "id" } });
    await channel.send(sms(), soon());
    gateway.answer = answerJson(200, { error: "x" });
    await failureOf(channel.send(sms(), soon()));
  });

  test("that says never is not asked for again", async () => {
    const channel = await toGateway({ ...rule, refused: { path: "result.status", in: ["barred"] } });
    for (const status of [200, 500]) {
      gateway.answer = answerJson(status, { result: { status: "barred" } });
      expect(await failureOf(channel.send(sms(), soon()))).toBeInstanceOf(ChannelRefused);
    }
  });

  test.each([
    [400, ChannelRefused],
    [422, ChannelRefused],
    [401, Error],
    [404, Error],
    [500, Error],
    [502, Error],
    [429, ChannelBusy],
    [503, ChannelBusy],
    [301, Error],
    [307, Error],
  ])("of %i", async (status, kind) => {
    const channel = await toGateway({});
    gateway.answer = answerJson(
      status,
      { text: "+254712000001" },
      { "retry-after": "7", location: `${gateway.url}/x` },
    );
    const failure = await failureOf(channel.send(sms(), soon()));
    expect(failure.constructor).toBe(kind);
    expect(failure.message).toBe(`gw answered ${status}.`);
    if (failure instanceof ChannelBusy) expect(failure.retryAfterMs).toBe(7000);
    // Redirects are not followed.
    expect(gateway.asked).toHaveLength(1);
  });

  test("without end is not read to its end", async () => {
    let written = 0;
    gateway.answer = (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(16_384))) written += 16_384;
      };
      response.on("drain", more);
      more();
    };
    const channel = await toGateway({ success: { path: "id" } });
    await failureOf(channel.send(sms(), soon()));
    // What the status says still counts where nothing else has to be known.
    await (await toGateway({ messageId: "id" })).send(sms(), soon());
    await (await toGateway({})).send(sms(), soon());
    await sleep(100);
    expect(gateway.waiting).toBe(0);
    expect(written).toBeLessThan(20_000_000);
  });

  test.each([
    ["is never begun", () => {}],
    ["is never ended", (response: import("node:http").ServerResponse) => void response.writeHead(200).write('{"id":')],
  ])("that %s is left at once when told to", async (_, answer) => {
    gateway.answer = answer;
    const channel = await toGateway({ messageId: "id" });
    const start = performance.now();
    expect((await failureOf(channel.send(sms(), AbortSignal.timeout(200)))).name).toBe("TimeoutError");
    expect(performance.now() - start).toBeLessThan(500);
    await sleep(50);
    expect(gateway.waiting).toBe(0);
  });

  test("that is cut off, or nobody there", async () => {
    gateway.answer = (response) => void response.destroy();
    expect((await failureOf((await toGateway({})).send(sms(), soon()))).message).toMatch(
      /^gw cannot be reached: \w+\.$/,
    );
    const nobody = await toGateway({});
    await gateway.stop();
    expect((await failureOf(nobody.send(sms(), soon()))).message).toBe("gw cannot be reached: ECONNREFUSED.");
    const bad = await toGateway({ url: "http://127.0.0.1:1/send" });
    expect((await failureOf(bad.send(sms(), soon()))).message).toBe("gw cannot be reached: bad port.");
  });
});

describe("gateways that many use", () => {
  test("Twilio", async () => {
    const channel = await channelOf({
      type: "twilio",
      accountSid: "AC1",
      authToken: "tok",
      from: "+15005550006",
      baseUrl: gateway.url,
    });
    gateway.answer = answerJson(201, { sid: "SM1", status: "queued" });
    expect(await channel.send(sms(), soon())).toMatchObject({ providerId: "SM1" });
    expect(gateway.asked[0]).toMatchObject({ method: "POST", url: "/2010-04-01/Accounts/AC1/Messages.json" });
    expect(gateway.asked[0]?.headers.authorization).toBe(`Basic ${Buffer.from("AC1:tok").toString("base64")}`);
    expect(Object.fromEntries(new URLSearchParams(gateway.asked[0]?.body))).toEqual({
      To: "+254712000001",
      From: "+15005550006",
      Body: nasty,
    });
    gateway.answer = answerJson(400, { code: 21211, message: "The 'To' number is not valid" });
    expect(await failureOf(channel.send(sms(), soon()))).toBeInstanceOf(ChannelRefused);
  });

  test("Vonage, which answers 200 to everything", async () => {
    const channel = await channelOf({
      type: "vonage",
      apiKey: "k",
      apiSecret: "s",
      from: "KENYA",
      baseUrl: gateway.url,
    });
    const answer = (status: string) => answerJson(200, { messages: [{ status, "message-id": "0A1" }] });
    gateway.answer = answer("0");
    expect(await channel.send(sms({ text: "plain" }), soon())).toMatchObject({ providerId: "0A1" });
    expect(new URLSearchParams(gateway.asked[0]?.body).get("type")).toBe("text");
    expect(new URLSearchParams(gateway.asked[0]?.body).get("to")).toBe("254712000001");
    gateway.answer = answer("1");
    expect(await failureOf(channel.send(sms(), soon()))).not.toBeInstanceOf(ChannelRefused);
    expect(new URLSearchParams(gateway.asked[1]?.body).get("type")).toBe("unicode");
    gateway.answer = answer("7");
    expect(await failureOf(channel.send(sms(), soon()))).toBeInstanceOf(ChannelRefused);
  });

  test("Africa's Talking", async () => {
    const channel = await channelOf({ type: "africastalking", username: "cash", apiKey: "k", baseUrl: gateway.url });
    const answer = (statusCode: number) =>
      answerJson(201, { SMSMessageData: { Recipients: [{ statusCode, messageId: "ATXid_1" }] } });
    gateway.answer = answer(101);
    expect(await channel.send(sms(), soon())).toMatchObject({ providerId: "ATXid_1" });
    expect(gateway.asked[0]?.headers).toMatchObject({ apikey: "k", accept: "application/json" });
    gateway.answer = answer(403);
    expect(await failureOf(channel.send(sms(), soon()))).toBeInstanceOf(ChannelRefused);
    gateway.answer = answer(500);
    expect(await failureOf(channel.send(sms(), soon()))).not.toBeInstanceOf(ChannelRefused);
  });
});

test("verify only connects: a request could be taken for a message", async () => {
  await (await toGateway({})).verify?.(soon());
  await sleep(50);
  expect(gateway.asked).toEqual([]);
  const nobody = await toGateway({ url: "http://127.0.0.1:1/send" });
  expect((await failureOf(nobody.verify?.(soon()) ?? Promise.resolve())).message).toContain("ECONNREFUSED");
});
