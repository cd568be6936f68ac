import { routes } from "@fieldgate/contract";
import { describe, expect, test } from "vitest";
import { databases } from "../kit/databases.ts";
import { answerJson } from "./gateway-server.ts";
import { gatewayFor, PostOffice, recipientsOf, until } from "./post-office.ts";

const never = () => {};
const number = (prefix: string, i: number) => `+254${prefix}${String(i).padStart(6, "0")}`;
const rate = { limit: 100_000, window: 3600 };

/** Milliseconds that a share of the requests stayed below. */
function percentile(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * share) - 1] ?? Number.NaN;
}

describe.each(databases)("a gateway that hangs on $name", ({ fresh }) => {
  test("slows no request down", async () => {
    const { gateway, channel } = await gatewayFor("only");
    gateway.answer = never;
    const otp = { perTenant: rate, perPrefix: rate };
    const hung = await PostOffice.open(fresh, { delivery: [channel], otp });
    // Beside it one that has nothing to send, asked in turn, so that whatever else this machine does slows both.
    const quiet = await PostOffice.open(fresh, { otp });
    const recipients = Array.from({ length: 120 }, (_, i) => number("712", i));
    for (const phone of recipients) await hung.node.addPerson({ phones: [phone] });
    async function ask(office: PostOffice, recipient: string): Promise<number> {
      const start = performance.now();
      const { status } = await office.node.api.call(routes.otpRequest, { body: { recipient } });
      expect(status).toBe(200);
      return performance.now() - start;
    }
    const times: { hung: number[]; quiet: number[] } = { hung: [], quiet: [] };
    for (const recipient of recipients) {
      times.hung.push(await ask(hung, recipient));
      times.quiet.push(await ask(quiet, recipient));
    }
    expect(gateway.waiting).toBe(10);
    // The first requests warm both up and fill the gateway.
    const [during, usual] = [percentile(times.hung.slice(20), 0.95), percentile(times.quiet.slice(20), 0.95)];
    const told = `p95 of otp/request: ${usual.toFixed(1)} ms, with a hung gateway ${during.toFixed(1)} ms`;
    expect(during, told).toBeLessThan(2 * usual);
  });

  test("keeps no other tenant waiting, whatever piles up in front of it", async () => {
    const slow = await gatewayFor("slow", { parallel: 3 });
    const quick = await gatewayFor("quick", { parallel: 3 });
    slow.gateway.answer = never;
    const otp = { perTenant: rate, perPrefix: rate };
    const office = await PostOffice.open(fresh, { delivery: [slow.channel, quick.channel], otp });
    const settings = (channels: string[]) => ({ sharedNetworks: ["127.0.0.0/8"], delivery: { channels } });
    await office.node.addTenant("stuck", settings(["slow"]));
    await office.node.addTenant("lucky", settings(["quick"]));
    for (let i = 0; i < 40; i += 1) await office.ask(number("712", i), "stuck");
    await until(() => slow.gateway.waiting === 3);
    const start = performance.now();
    for (let i = 0; i < 12; i += 1) await office.ask(number("733", i), "lucky");
    await until(() => quick.gateway.asked.length === 12);
    expect(performance.now() - start).toBeLessThan(5000);
    expect(slow.gateway.asked).toHaveLength(3);
    expect(new Set(recipientsOf(quick.gateway)).size).toBe(12);
    // What waits was not tried, and lost none of its tries.
    const waiting = (await office.messages()).filter(({ state }) => state === "pending");
    expect(waiting.length).toBeGreaterThan(30);
    for (const { attempts, channel_index } of waiting) expect([attempts, channel_index]).toEqual([0, 0]);
  });

  test("is left for the next channel after seconds, also by those that only wait for it", async () => {
    const slow = await gatewayFor("slow", { parallel: 2, timeout: 8 });
    const quick = await gatewayFor("quick", { parallel: 8 });
    slow.gateway.answer = never;
    const office = await PostOffice.open(fresh, { delivery: [slow.channel, quick.channel] });
    const start = performance.now();
    for (let i = 0; i < 10; i += 1) await office.ask(number("712", i));
    await until(() => quick.gateway.asked.length >= 8);
    expect(performance.now() - start).toBeLessThan(7500);
    expect(slow.gateway.asked).toHaveLength(2);
    quick.gateway.answer = answerJson(200, {});
  });
});
