import { describe, expect, test } from "vitest";
import { databases } from "../kit/databases.ts";
import { answerJson } from "./gateway-server.ts";
import { gatewayFor, PostOffice, recipientsOf } from "./post-office.ts";

const postgres = databases.filter(({ name }) => name === "postgres");

describe.each(postgres)("three nodes beside each other on $name", ({ fresh }) => {
  test("send each of 500 messages once, and share the work", async () => {
    const count = 500;
    const { gateway, channel } = await gatewayFor("only");
    // Now and then it fails, so that messages are tried again, perhaps by another node.
    gateway.answer = (response) => {
      const nth = gateway.asked.length;
      setTimeout(() => answerJson(nth % 50 === 0 ? 500 : 200, { id: `m-${nth}` })(response), 10);
    };
    const rate = { limit: 100_000, window: 3600 };
    const otp = { perTenant: rate, perPrefix: rate };
    const office = await PostOffice.open(fresh, { delivery: [channel], otp });
    const others = await Promise.all([office.another(), office.another()]);
    const phones = Array.from({ length: count }, (_, i) => `+2547120${String(i).padStart(5, "0")}`);
    for (let from = 0; from < count; from += 20) {
      await Promise.all(phones.slice(from, from + 20).map((phone) => office.ask(phone)));
    }
    const rows = await office.until("sent");
    expect(rows).toHaveLength(count);

    const delivered = gateway.asked.filter((_, i) => (i + 1) % 50 !== 0);
    expect(new Set(recipientsOf({ ...gateway, asked: delivered })).size).toBe(count);
    expect(delivered).toHaveLength(count);
    expect(await office.events("otp.sent")).toHaveLength(count);
    // A node counts a message a moment after its row says so.
    const shares = () => Promise.all([office.node, ...others].map(({ app }) => sentBy(app.http)));
    await expect.poll(async () => (await shares()).reduce((sum, share) => sum + share, 0)).toBe(count);
    for (const share of await shares()) expect(share).toBeGreaterThan(0);
  }, 60_000);
});

async function sentBy(http: PostOffice["node"]["app"]["http"]): Promise<number> {
  const text = await http.httpSettings.metrics.registry.metrics();
  return Number(/outcome="sent"\} (\d+)/.exec(text)?.[1] ?? 0);
}
