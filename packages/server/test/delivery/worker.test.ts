import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { MovableClock } from "../kit/clock.ts";
import { databases } from "../kit/databases.ts";
import { TestChannel } from "../kit/test-channel.ts";
import { answerJson } from "./gateway-server.ts";
import { startMailServer } from "./mail-server.ts";
import { gatewayFor, PostOffice, recipientsOf, until } from "./post-office.ts";
import { startSmsCenter } from "./sms-center.ts";

const phone = "+254712000001";
const never = () => {};

describe.each(databases)("messages on $name", ({ fresh }) => {
  test("go by the next channel when the first fails, and nobody gets two", async () => {
    const first = await gatewayFor("first");
    const second = await gatewayFor("second");
    first.gateway.answer = answerJson(500, {});
    const office = await PostOffice.open(fresh, { delivery: [first.channel, second.channel] });
    await office.ask(phone);
    const [sent] = await office.until("sent");
    expect(sent).toMatchObject({ channel: "second", provider_id: "m-1", attempts: 3 });
    expect(recipientsOf(second.gateway)).toEqual([phone]);
    expect(new Set(first.gateway.asked.map(({ headers }) => headers["idempotency-key"]))).toEqual(new Set([sent?.id]));
    expect(await office.events("otp.sent")).toEqual([{ channel: "second" }]);
  });

  test("go by the next channel at once when the first refuses; the tenant's own order holds", async () => {
    const first = await gatewayFor("first");
    const second = await gatewayFor("second");
    const third = await gatewayFor("third");
    third.gateway.answer = answerJson(400, {});
    const office = await PostOffice.open(fresh, {
      delivery: [first.channel, second.channel, third.channel],
      settings: { delivery: { channels: ["third", "second"] } },
    });
    await office.ask(phone);
    expect((await office.until("sent"))[0]).toMatchObject({ channel: "second", attempts: 2 });
    expect([first, second, third].map(({ gateway }) => gateway.asked.length)).toEqual([0, 1, 1]);
  });

  test("that the only channel refuses are given up, and the journal says so", async () => {
    const { gateway, channel } = await gatewayFor("only");
    gateway.answer = answerJson(400, { error: "no such number" });
    const office = await PostOffice.open(fresh, { delivery: [channel] });
    await office.ask(phone);
    await office.until("failed");
    expect(gateway.asked).toHaveLength(1);
    expect(await office.events("otp.undelivered")).toEqual([{ medium: "sms", reason: "undeliverable" }]);
  });

  test("are tried again as long as the code is good, and then given up", async () => {
    const clock = new MovableClock();
    const { gateway, channel } = await gatewayFor("only");
    gateway.answer = answerJson(503, {});
    const office = await PostOffice.open(fresh, { clock, delivery: [channel] });
    await office.ask(phone);
    await until(() => gateway.asked.length >= 2);
    expect(await office.states()).toEqual(expect.not.arrayContaining(["failed"]));
    clock.advance(595);
    await office.until("failed");
    const tries = gateway.asked.length;
    // A try that was under way then finds no time for another; else the next one finds the code expired.
    const reason = expect.stringMatching(/^(expired|undeliverable)$/);
    expect(await office.events("otp.undelivered")).toEqual([{ medium: "sms", reason }]);
    await sleep(500);
    expect(gateway.asked).toHaveLength(tries);
  });

  test("for nobody end void, and nothing is sent", async () => {
    const { gateway, channel } = await gatewayFor("only");
    const office = await PostOffice.open(fresh, { delivery: [channel] });
    await office.askAgain("+254712999999");
    await office.until("void");
    expect(gateway.asked).toEqual([]);
    expect(await office.events("otp.undelivered")).toEqual([]);
  });

  test("without a channel are given up", async () => {
    const office = await PostOffice.open(fresh);
    await office.ask(phone);
    await office.until("failed");
    expect(await office.events("otp.undelivered")).toEqual([{ medium: "sms", reason: "no_channel" }]);
  });

  test("over the tenant's budget, or that of a prefix, are not sent and are counted", async () => {
    const { gateway, channel } = await gatewayFor("only");
    const otp = { perTenant: { limit: 4, window: 3600 }, perPrefix: { limit: 2, window: 3600 } };
    const office = await PostOffice.open(fresh, { delivery: [channel], otp });
    // All are asked for before the first is sent: the budget of the tenant is open then.
    for (const each of ["+254712000001", "+254712000002", "+254712000003"]) await office.ask(each);
    await office.until("sent", "failed");
    for (const each of ["+254733000001", "+254733000002"]) await office.ask(each);
    await office.until("sent", "failed");
    expect(recipientsOf(gateway)).toHaveLength(4);
    expect(recipientsOf(gateway).filter((to) => to.startsWith("+254712"))).toHaveLength(2);
    expect(await office.events("otp.undelivered")).toEqual([{ medium: "sms", reason: "over_prefix_budget" }]);
    await expect(office.ask("+254700000001")).rejects.toMatchObject({ code: "rate_limited" });
    const text = await office.node.app.http.httpSettings.metrics.registry.metrics();
    expect(text).toContain('fieldgate_messages_total{tenant="demo",channel="only",outcome="sent"} 4');
    expect(text).toContain('fieldgate_messages_total{tenant="demo",channel="only",outcome="over_prefix_budget"} 1');
    expect(text).toContain('fieldgate_message_parts_total{tenant="demo",channel="only"} 4');
  });

  test("that a dead node held are taken over when its claim ends, and not before", async () => {
    const clock = new MovableClock();
    const { gateway, channel } = await gatewayFor("only", { timeout: 1 });
    gateway.answer = never;
    const office = await PostOffice.open(fresh, { clock, delivery: [channel] });
    await office.ask(phone);
    await until(() => gateway.waiting === 1);
    // As if another node had taken it over: what this one makes of its own try does not count any more.
    const { db } = office.node.app.services.store;
    await db.updateTable("outbox").set({ claimed_by: "a node that died" }).execute();
    await until(() => gateway.waiting === 0);
    gateway.answer = answerJson(200, { id: "m-2" });
    clock.advance(40);
    await sleep(700);
    expect(await office.states()).toEqual(["sending"]);
    clock.advance(6);
    expect((await office.until("sent"))[0]).toMatchObject({ provider_id: "m-2", attempts: 2 });
    expect(gateway.asked).toHaveLength(2);
  });

  test("in hand are given back when a node stops, and the next node sends them", async () => {
    const { gateway, channel } = await gatewayFor("only");
    gateway.answer = never;
    const office = await PostOffice.open(fresh, { delivery: [channel] });
    await office.ask(phone);
    await until(() => gateway.waiting === 1);
    const start = performance.now();
    await office.node.close();
    expect(performance.now() - start).toBeLessThan(3000);
    expect(gateway.waiting).toBe(0);
    gateway.answer = answerJson(200, { id: "m-2" });
    const next = await office.another();
    const rows = () => next.app.services.store.db.selectFrom("outbox").select(["state", "provider_id"]).execute();
    await until(async () => (await rows())[0]?.state === "sent");
    expect(await rows()).toEqual([{ state: "sent", provider_id: "m-2" }]);
    expect(gateway.asked).toHaveLength(2);
  });
});

describe.each(databases)("an email on $name", ({ fresh }) => {
  test("comes after a mail server that says later at first, once, and with its code", async () => {
    const mail = await startMailServer();
    onTestFinished(() => mail.stop());
    let greeted = false;
    mail.answerTo = () => {
      const first = !greeted;
      greeted = true;
      return first ? { code: 451, text: "4.7.1 Greylisted" } : null;
    };
    const delivery = [{ type: "smtp", url: `smtp://127.0.0.1:${mail.port}`, from: "Cash <no-reply@example.org>" }];
    const office = await PostOffice.open(fresh, { delivery });
    await office.node.addPerson({ emails: ["Neema@example.org"] });
    await office.askAgain("neema@EXAMPLE.org");
    const [sent] = await office.until("sent");
    expect(sent).toMatchObject({ channel: "smtp", attempts: 2, provider_id: `<${sent?.id}@example.org>` });
    expect(mail.mails).toHaveLength(1);
    expect(mail.mails[0]).toMatchObject({ to: ["neema@example.org"] });
    expect(mail.mails[0]?.raw).toMatch(/@127\.0\.0\.1 #\d{6}/);
  });
});

describe.each(databases)("receipts on $name", ({ fresh }) => {
  test("say what became of a message; one that did not arrive goes by the next channel", async () => {
    const center = await startSmsCenter();
    onTestFinished(() => center.stop());
    const telco = {
      ...{ type: "smpp", name: "telco", url: `smpp://127.0.0.1:${center.port}`, systemId: "fg", password: "p" },
      from: "KENYA",
    };
    const other = new TestChannel("other", "sms");
    const office = await PostOffice.open(fresh, { delivery: [telco], channels: [other] });
    await office.ask(phone);
    await office.until("sent");
    expect(other.sent).toEqual([]);
    center.receipt(center.submitted[0]?.id ?? "", "DELIVRD");
    await office.until("delivered");

    await office.ask("+254712000002");
    await office.until("sent", "delivered");
    center.receipt(center.submitted.at(-1)?.id ?? "", "UNDELIV");
    await other.codeFor("+254712000002");
    await office.until("sent", "delivered");
    expect((await office.messages()).map(({ channel }) => channel)).toEqual(["telco", "other"]);
    const text = await office.node.app.http.httpSettings.metrics.registry.metrics();
    expect(text).toContain('{tenant="demo",channel="telco",outcome="undelivered"} 1');
    expect(text).toContain('{tenant="demo",channel="telco",outcome="delivered"} 1');
  });
});
