import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import type { SmtpConfig } from "../../src/config/delivery-config.ts";
import { type Channel, ChannelRefused, type OutboundMessage } from "../../src/delivery/channel.ts";
import { createSmtpChannel } from "../../src/delivery/smtp.ts";
import { makeCertificate } from "../kit/certificate.ts";
import { type MailServer, startMailServer } from "./mail-server.ts";

const day = 86_400_000;
const pair = makeCertificate("localhost", { from: new Date(Date.now() - day), to: new Date(Date.now() + day) });

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function mailServer(options?: Parameters<typeof startMailServer>[0]): Promise<MailServer> {
  const server = await startMailServer(options);
  ends.push(() => server.stop());
  return server;
}

function channelTo(port: number, own: Partial<SmtpConfig> = {}): Channel {
  const channel = createSmtpChannel({
    type: "smtp",
    medium: "email",
    name: "mail",
    parallel: 2,
    timeoutMs: 5000,
    host: "127.0.0.1",
    port,
    tls: "none",
    auth: null,
    from: "Kenya Cash <no-reply@cash.example.org>",
    ca: null,
    ...own,
  });
  ends.push(() => channel.close());
  return channel;
}

const soon = () => AbortSignal.timeout(5000);
const mail = (own: Partial<OutboundMessage> = {}): OutboundMessage => ({
  id: "5f0c1d2e-0000-4000-8000-000000000001",
  tenantId: "kenya",
  to: "amina@example.org",
  subject: "رمزك لدى Kenya",
  text: "123456 هو رمزك.\n\n@id.example.org #123456",
  ...own,
});

const bodyOf = (raw: string) => {
  const [head = "", ...rest] = raw.split("\r\n\r\n");
  const encoded = rest.join("\r\n\r\n");
  if (/^Content-Transfer-Encoding: base64/im.test(head)) return Buffer.from(encoded, "base64").toString("utf8");
  const bytes = encoded.replaceAll("=\r\n", "").replace(/=([0-9A-F]{2})/g, (_, hex: string) => `%${hex}`);
  return decodeURIComponent(bytes);
};

async function failureOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => {
      throw new Error("It was sent.");
    },
    (error: unknown) => error as Error,
  );
}

describe("a mail", () => {
  test("arrives as plain text, with a name that its repetition has too", async () => {
    const server = await mailServer();
    const channel = channelTo(server.port);
    const { providerId } = await channel.send(mail(), soon());
    await channel.send(mail(), soon());
    const [first, again] = server.mails;
    expect(first).toMatchObject({ from: "no-reply@cash.example.org", to: ["amina@example.org"] });
    const head = first?.raw.split("\r\n\r\n")[0] ?? "";
    expect(head).toContain("From: Kenya Cash <no-reply@cash.example.org>");
    expect(head).toContain("To: amina@example.org");
    expect(head).toContain("Auto-Submitted: auto-generated");
    expect(head).toContain("Content-Type: text/plain; charset=utf-8");
    expect(providerId).toBe("<5f0c1d2e-0000-4000-8000-000000000001@cash.example.org>");
    for (const each of [first, again]) expect(each?.raw).toContain(`Message-ID: ${providerId}`);
    expect(
      bodyOf(first?.raw ?? "")
        .replaceAll("\r\n", "\n")
        .trimEnd(),
    ).toBe(mail().text);
  });

  test("cannot smuggle a header or another recipient", async () => {
    const server = await mailServer();
    const channel = channelTo(server.port);
    await channel.send(mail({ subject: "Code\r\nBcc: eve@example.org" }), soon());
    expect(server.mails[0]?.to).toEqual(["amina@example.org"]);
    expect(server.mails[0]?.raw).not.toMatch(/^Bcc:/m);
    await failureOf(channel.send(mail({ to: "amina@example.org>\r\nRCPT TO:<eve@example.org" }), soon()));
    expect(server.mails.flatMap(({ to }) => to)).not.toContain("eve@example.org");
  });

  test("takes a connection that is kept, and no more of them at once than allowed", async () => {
    const server = await mailServer();
    const channel = channelTo(server.port);
    for (let i = 0; i < 4; i += 1) await channel.send(mail(), soon());
    expect(server.connections.total).toBe(1);
    await Promise.all(Array.from({ length: 10 }, () => channel.send(mail(), soon())));
    expect(server.connections).toMatchObject({ total: 2, most: 2 });
    expect(server.mails).toHaveLength(14);
  });

  test("goes over a new connection when the server has ended the kept one", async () => {
    const server = await mailServer();
    const channel = channelTo(server.port);
    await channel.send(mail(), soon());
    server.hangUp();
    await channel.send(mail(), soon());
    expect(server.mails).toHaveLength(2);
    expect(server.connections.total).toBe(2);
  });
});

describe("a mail server that", () => {
  test("refuses for good is not asked again, and the log learns no address", async () => {
    const server = await mailServer();
    const channel = channelTo(server.port);
    server.answerTo = (address) => ({ code: 550, text: `<${address}> does not live here` });
    const refusal = await failureOf(channel.send(mail(), soon()));
    expect(refusal).toBeInstanceOf(ChannelRefused);
    expect(refusal.message).toBe("The mail server of mail answered 550 at RCPT.");
    server.answerTo = () => null;
    await channel.send(mail(), soon());
    expect(server.connections.total).toBe(1);
  });

  test("refuses for now, as with greylisting, takes it later", async () => {
    const server = await mailServer();
    const channel = channelTo(server.port);
    server.answerTo = () => ({ code: 451, text: "4.7.1 Come back later" });
    const refusal = await failureOf(channel.send(mail(), soon()));
    expect(refusal).not.toBeInstanceOf(ChannelRefused);
    expect(refusal.message).toContain("451");
    server.answerTo = () => null;
    await channel.send(mail(), soon());
    expect(server.mails).toHaveLength(1);
  });

  test("hangs after the message is left at once when told to, and its place is free", async () => {
    const server = await mailServer();
    const channel = channelTo(server.port, { parallel: 1 });
    server.onMessage = "hang";
    const stop = new AbortController();
    const sending = failureOf(channel.send(mail(), stop.signal));
    await sleep(200);
    const start = performance.now();
    stop.abort(new Error("enough"));
    expect((await sending).message).toContain("enough");
    expect(performance.now() - start).toBeLessThan(100);
    server.onMessage = "take";
    await channel.send(mail(), soon());
    expect(server.mails).toHaveLength(1);
  });

  test("never greets is left at once when told to", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    ends.push(() => new Promise((resolve) => silent.close(resolve)));
    const channel = channelTo((silent.address() as AddressInfo).port);
    const start = performance.now();
    expect((await failureOf(channel.send(mail(), AbortSignal.timeout(200)))).name).toBe("TimeoutError");
    expect(performance.now() - start).toBeLessThan(600);
  });

  test("drops the connection, or is not there, is an error that may pass", async () => {
    const server = await mailServer();
    server.onMessage = "drop";
    const dropped = await failureOf(channelTo(server.port).send(mail(), soon()));
    expect(dropped).not.toBeInstanceOf(ChannelRefused);
    expect(dropped.message).toContain("The mail server of mail cannot be used");
    const nobody = await failureOf(channelTo(1).send(mail(), soon()));
    expect(nobody.message).toContain("ECONNREFUSED");
  });
});

describe("TLS", () => {
  test("by STARTTLS with a certificate that is known", async () => {
    const server = await mailServer({ key: pair.key, cert: pair.cert });
    await channelTo(server.port, { host: "localhost", tls: "starttls", ca: pair.cert }).send(mail(), soon());
    expect(server.mails).toHaveLength(1);
  });

  test("from the first byte", async () => {
    const server = await mailServer({ key: pair.key, cert: pair.cert, secure: true });
    await channelTo(server.port, { host: "localhost", tls: "implicit", ca: pair.cert }).send(mail(), soon());
    expect(server.mails).toHaveLength(1);
  });

  test.each(["starttls", "implicit"] as const)("refuses a certificate that nobody vouches for: %s", async (tls) => {
    const server = await mailServer({ key: pair.key, cert: pair.cert, secure: tls === "implicit" });
    const refused = await failureOf(channelTo(server.port, { host: "localhost", tls }).send(mail(), soon()));
    expect(refused).not.toBeInstanceOf(ChannelRefused);
    expect(refused.message).toMatch(/DEPTH_ZERO_SELF_SIGNED_CERT|ETLS|self/);
    expect(server.mails).toEqual([]);
  });

  test("that was asked for and is not offered: nothing is said in the clear", async () => {
    const server = await mailServer();
    await failureOf(channelTo(server.port, { tls: "starttls" }).send(mail(), soon()));
    expect(server.mails).toEqual([]);
  });
});

describe("verify", () => {
  const withPassword = () =>
    mailServer({
      authOptional: false,
      onAuth({ username, password }, _session, callback) {
        if (username === "fieldgate" && password === "right") callback(null, { user: username });
        else callback(new Error("no"));
      },
    });

  test("says whether a message could leave, and sends none", async () => {
    const server = await withPassword();
    await channelTo(server.port, { auth: { user: "fieldgate", password: "right" } }).verify?.(soon());
    const wrong = channelTo(server.port, { auth: { user: "fieldgate", password: "wrong" } });
    const refused = await failureOf(wrong.verify?.(soon()) ?? Promise.resolve());
    expect(refused.message).toContain("535");
    expect(refused.message).not.toContain("wrong");
    // It is the channel that is wrong, not the message: another try may work.
    expect(await failureOf(wrong.send(mail(), soon()))).not.toBeInstanceOf(ChannelRefused);
    expect(server.mails).toEqual([]);
  });
});
