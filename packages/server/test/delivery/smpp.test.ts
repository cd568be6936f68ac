import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import type { SmppConfig } from "../../src/config/delivery-config.ts";
import {
  type Channel,
  ChannelBusy,
  ChannelRefused,
  type OutboundMessage,
  type Receipt,
} from "../../src/delivery/channel.ts";
import { createSmppChannel } from "../../src/delivery/smpp.ts";
import { makeCertificate } from "../kit/certificate.ts";
import { reassemble, type SmsCenter, startSmsCenter } from "./sms-center.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function smsCenter(options?: Parameters<typeof startSmsCenter>[0]): Promise<SmsCenter> {
  const center = await startSmsCenter(options);
  ends.push(() => center.stop());
  return center;
}

function channelTo(port: number, own: Partial<SmppConfig> = {}): Channel {
  const channel = createSmppChannel({
    type: "smpp",
    medium: "sms",
    name: "telco",
    parallel: 3,
    timeoutMs: 5000,
    host: "127.0.0.1",
    port,
    tls: false,
    systemId: "fieldgate",
    password: "hush",
    systemType: "",
    from: { address: "KENYACASH", ton: 5, npi: 0 },
    enquireMs: 30_000,
    messageIds: "same",
    ca: null,
    ...own,
  });
  ends.push(() => channel.close());
  return channel;
}

const soon = () => AbortSignal.timeout(5000);
const sms = (own: Partial<OutboundMessage> = {}): OutboundMessage => ({
  id: "5f0c1d2e-0000-4000-8000-000000000001",
  tenantId: "kenya",
  to: "+254712000001",
  subject: "not for SMS",
  text: "123456 is your code.\n\n@id.example.org #123456",
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

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue() && tries < 300; tries += 1) await sleep(10);
  expect(isTrue()).toBe(true);
}

describe("an SMS", () => {
  test("goes out with its sender, a request for a receipt and GSM letters", async () => {
    const center = await smsCenter();
    const accepted = await channelTo(center.port).send(sms(), soon());
    expect(accepted).toEqual({ providerId: "1000", parts: 1 });
    expect(center.submitted[0]?.pdu).toMatchObject({
      source_addr: "KENYACASH",
      source_addr_ton: 5,
      source_addr_npi: 0,
      destination_addr: "254712000001",
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      registered_delivery: 1,
      esm_class: 0,
      data_coding: 0,
    });
    expect(reassemble(center.submitted)).toBe(sms().text);
  });

  test("in Arabic and long is put together again by the phone", async () => {
    const center = await smsCenter();
    const text = `123456 هو رمزك لدى البرنامج الوطني للحماية الاجتماعية. ${"لا تعطه لأحد. ".repeat(10)}\n\n@id.example.org #123456`;
    const channel = channelTo(center.port);
    const { parts } = await channel.send(sms({ text }), soon());
    expect(parts).toBeGreaterThan(2);
    expect(center.submitted).toHaveLength(parts ?? 0);
    expect(reassemble(center.submitted)).toBe(text);
    const headers = center.submitted.map(({ pdu }) => [...(pdu.short_message?.udh?.[0] ?? [])]);
    expect(new Set(headers.map(([, , reference]) => reference)).size).toBe(1);
    expect(headers.map(([, , , total, number]) => [total, number])).toEqual(
      headers.map((_, index) => [headers.length, index + 1]),
    );
    for (const { pdu } of center.submitted) expect(pdu).toMatchObject({ esm_class: 0x40, data_coding: 8 });
    // A second try of the same message fits together with the first.
    const before = center.submitted.length;
    await channel.send(sms({ text }), soon());
    expect(center.submitted[before]?.pdu.short_message?.udh?.[0]).toEqual(
      center.submitted[0]?.pdu.short_message?.udh?.[0],
    );
  });

  test("waits for its turn: no more parts on their way than the window allows", async () => {
    const center = await smsCenter();
    center.delayMs = 30;
    const channel = channelTo(center.port);
    const text = "x".repeat(400);
    await Promise.all(Array.from({ length: 10 }, (_, i) => channel.send(sms({ id: `m${i}`, text }), soon())));
    expect(center.submitted).toHaveLength(30);
    expect(center.seen.mostWaiting).toBe(3);
    expect(center.seen.binds).toBe(1);
  });
});

describe("a receipt", () => {
  async function listening(own: Partial<SmppConfig> = {}) {
    const center = await smsCenter();
    const channel = channelTo(center.port, own);
    const heard: Receipt[] = [];
    channel.onReceipt?.((receipt) => heard.push(receipt));
    return { center, channel, heard };
  }

  test("tells what became of a message, in each form that it has", async () => {
    const { center, channel, heard } = await listening();
    await channel.send(sms(), soon());
    center.receipt("1000", "ENROUTE");
    center.receipt("1000", "DELIVRD");
    center.receipt("77", "UNDELIV");
    center.send("deliver_sm", { receipted_message_id: "78", message_state: 5 });
    center.send("deliver_sm", { esm_class: 4, short_message: "", receipted_message_id: "79", message_state: 2 });
    // A person who answers is no receipt.
    center.send("deliver_sm", { source_addr: "254712000001", short_message: "id:80 stat:DELIVRD thanks" });
    await until(() => heard.length === 4);
    await sleep(50);
    expect(heard).toEqual([
      { providerId: "1000", delivered: true },
      { providerId: "77", delivered: false },
      { providerId: "78", delivered: false },
      { providerId: "79", delivered: true },
    ]);
  });

  test("of a long message comes with its last part, or with the first that fails", async () => {
    const { center, channel, heard } = await listening();
    const text = "x".repeat(400);
    const { providerId } = await channel.send(sms({ text }), soon());
    const second = await channel.send(sms({ id: "other", text }), soon());
    for (const id of ["1001", "1000"]) center.receipt(id, "DELIVRD");
    await sleep(50);
    expect(heard).toEqual([]);
    center.receipt("1002", "DELIVRD");
    await until(() => heard.length === 1);
    center.receipt("1004", "REJECTD");
    center.receipt("1003", "DELIVRD");
    center.receipt("1005", "UNDELIV");
    await until(() => heard.length === 2);
    await sleep(50);
    expect(heard).toEqual([
      { providerId, delivered: true },
      { providerId: second.providerId, delivered: false },
    ]);
  });

  test("in decimal is understood where the message was named in hexadecimal", async () => {
    const { center, channel, heard } = await listening({ messageIds: "hex" });
    center.nameOf = (index) => (0xabc0 + index).toString(16).toUpperCase();
    expect(await channel.send(sms(), soon())).toMatchObject({ providerId: String(0xabc0) });
    center.receipt(String(0xabc0), "DELIVRD");
    await until(() => heard.length === 1);
    expect(heard[0]?.providerId).toBe(String(0xabc0));
  });
});

describe("an SMSC that", () => {
  test("throttles is obeyed, and every part goes out once", async () => {
    const center = await smsCenter();
    const refused = new Set([0, 3]);
    center.onSubmit = (_, index) => (refused.has(index) ? 0x58 : 0);
    const { parts } = await channelTo(center.port).send(sms({ text: "x".repeat(400) }), soon());
    expect(parts).toBe(3);
    const taken = center.submitted.filter((_, index) => !refused.has(index));
    expect(reassemble(taken)).toBe("x".repeat(400));
  });

  test("throttles for ever is busy, not broken", async () => {
    const center = await smsCenter();
    center.onSubmit = () => 0x58;
    const failure = await failureOf(channelTo(center.port).send(sms(), AbortSignal.timeout(900)));
    expect(failure).toBeInstanceOf(ChannelBusy);
    expect(center.submitted.length).toBeLessThan(6);
  });

  test.each([
    [0x0b, ChannelRefused],
    [0x65, ChannelRefused],
    [0x08, Error],
    [0x64, Error],
    [0x45, Error],
  ])("answers %i", async (status, kind) => {
    const center = await smsCenter();
    center.onSubmit = () => status;
    const failure = await failureOf(channelTo(center.port).send(sms(), soon()));
    expect(failure.constructor).toBe(kind);
    expect(failure.message).toContain(`status 0x00${status.toString(16).padStart(2, "0")}`);
    expect(failure.message).not.toContain("254712");
  });

  test("never answers is left at once when told to, and its place is free", async () => {
    const center = await smsCenter();
    center.onSubmit = (_, index) => (index === 0 ? "hang" : 0);
    const channel = channelTo(center.port, { parallel: 1 });
    await channel.verify?.(soon());
    const start = performance.now();
    expect((await failureOf(channel.send(sms(), AbortSignal.timeout(200)))).name).toBe("TimeoutError");
    expect(performance.now() - start).toBeLessThan(500);
    await channel.send(sms(), soon());
    // It was asked whether it is still there, and was.
    expect(center.seen).toMatchObject({ binds: 1 });
    expect(center.seen.enquiries).toBeGreaterThan(0);
  });

  test("hangs up is bound again, and a message that was begun is finished", async () => {
    const center = await smsCenter();
    center.onSubmit = (_, index) => (index === 1 ? "drop" : 0);
    const channel = channelTo(center.port);
    await channel.send(sms({ text: "x".repeat(300) }), soon());
    expect(center.submitted).toHaveLength(3);
    expect(center.seen.binds).toBe(2);
    expect(reassemble(center.submitted.filter((_, index) => index !== 1))).toBe("x".repeat(300));
    center.hangUp();
    await sleep(50);
    await channel.send(sms(), soon());
    expect(center.seen.binds).toBe(3);
  });

  test("falls silent is noticed by itself", async () => {
    const center = await smsCenter();
    const channel = channelTo(center.port, { enquireMs: 100 });
    await channel.verify?.(soon());
    await until(() => center.seen.enquiries >= 2);
    center.isAlive = false;
    const binds = center.seen.binds;
    await sleep(400);
    center.isAlive = true;
    await until(() => center.seen.binds > binds);
    await channel.send(sms(), soon());
  });

  test("refuses the password is not asked again and again", async () => {
    const center = await smsCenter();
    center.bindStatus = 0x0e;
    const channel = channelTo(center.port);
    const start = performance.now();
    const failure = await failureOf(channel.send(sms(), soon()));
    expect(failure.message).toContain("refuses to be bound: status 0x000e");
    expect(failure.message).not.toContain("hush");
    // The next channel gets its turn soon.
    expect(performance.now() - start).toBeLessThan(3500);
    expect(center.seen.binds).toBeLessThan(5);
  });

  test("sends what makes no sense does no harm", async () => {
    const center = await smsCenter();
    const channel = channelTo(center.port);
    await channel.send(sms(), soon());
    center.send("alert_notification", { source_addr: "1", esme_addr: "2" });
    center.send("deliver_sm", { esm_class: 4, short_message: Buffer.from([0xff, 0x00]) });
    for (const { session } of center.submitted)
      session.socket.write(Buffer.from("00000011ffffffff0000000000000001ab", "hex"));
    await channel.send(sms(), soon());
    for (const { session } of center.submitted) session.socket.write(Buffer.alloc(64, 0xff));
    await sleep(100);
    await channel.send(sms(), soon());
    expect(center.submitted).toHaveLength(3);
  });
});

test("over TLS a certificate must be vouched for", async () => {
  const day = 86_400_000;
  const pair = makeCertificate("localhost", { from: new Date(Date.now() - day), to: new Date(Date.now() + day) });
  const center = await smsCenter(pair);
  await channelTo(center.port, { host: "localhost", tls: true, ca: pair.cert }).send(sms(), soon());
  expect(center.submitted).toHaveLength(1);
  const failure = await failureOf(channelTo(center.port, { host: "localhost", tls: true }).send(sms(), soon()));
  expect(failure.message).toContain("SELF_SIGNED");
});
