import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import { TestChannel } from "../kit/test-channel.ts";
import { PostOffice, until } from "./post-office.ts";

/** A way to the database that can be cut. */
async function startWire(url: string) {
  const target = new URL(url);
  const there = { host: target.hostname, port: Number(target.port) };
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(there);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => {});
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
    if (isCut) near.destroy();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  target.port = String((server.address() as AddressInfo).port);
  return {
    url: target.href,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend() {
      isCut = false;
    },
  };
}

const [postgres] = databases.filter(({ name }) => name === "postgres");

test("a message that left while the database was away is noted later, and does not leave again", async () => {
  let wire: Awaited<ReturnType<typeof startWire>> | undefined;
  const fresh = async (): Promise<FreshDatabase> => {
    const database = await postgres?.fresh();
    if (database?.config.kind !== "postgres") throw new Error("There is no PostgreSQL.");
    wire = await startWire(database.config.url);
    return { ...database, config: { ...database.config, url: wire.url } };
  };
  const sms = new TestChannel("sms", "sms");
  const send = sms.send.bind(sms);
  sms.send = async (message) => {
    const accepted = await send(message);
    wire?.cut();
    setTimeout(() => wire?.mend(), 1500);
    return accepted;
  };
  const office = await PostOffice.open(fresh, { channels: [sms] });
  await office.ask("+254712000001");
  await until(() => sms.sent.length === 1);
  await sleep(1600);
  const [row] = await office.until("sent");
  expect(row).toMatchObject({ attempts: 1, channel: "sms" });
  expect(sms.sent).toHaveLength(1);
  expect(await office.events("otp.sent")).toHaveLength(1);
});
