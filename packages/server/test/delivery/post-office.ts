import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import type { Clock } from "../../src/clock.ts";
import type { Config } from "../../src/config/config.ts";
import { parseDelivery } from "../../src/config/parse-delivery.ts";
import { defaultPolicy, type Policy } from "../../src/config/policy.ts";
import type { Channel } from "../../src/delivery/channel.ts";
import { requestOtp } from "../../src/flows/otp-request.ts";
import type { OutboxRow } from "../../src/store/outbox.ts";
import type { FreshDatabase, TestDatabase } from "../kit/databases.ts";
import { startNode, type TestNode } from "../kit/node.ts";
import { type GatewayServer, startGateway } from "./gateway-server.ts";

export interface OfficeOptions {
  readonly clock?: Clock;
  readonly otp?: Partial<Policy["otp"]>;
  /** As an operator would write it. */
  readonly delivery?: readonly Record<string, unknown>[];
  readonly channels?: readonly Channel[];
  /** Settings of the tenant `demo`. */
  readonly settings?: Record<string, unknown>;
}

/** A deployment that sends messages: nodes that share a database, and the tenant `demo` with people in it. */
export class PostOffice {
  readonly node: TestNode;
  readonly #database: FreshDatabase;
  readonly #options: OfficeOptions;

  private constructor(database: FreshDatabase, node: TestNode, options: OfficeOptions) {
    this.#database = database;
    this.node = node;
    this.#options = options;
  }

  /** Gone when the test is over. */
  static async open(fresh: TestDatabase["fresh"], options: OfficeOptions = {}): Promise<PostOffice> {
    const database = await fresh();
    onTestFinished(() => database.drop());
    const node = await start(database, options);
    // Tests ask from one address alone, as a kiosk does.
    const shared = { defaultCountry: "KE", sharedNetworks: ["127.0.0.0/8"] };
    await node.addTenant("demo", { ...shared, ...options.settings });
    return new PostOffice(database, node, options);
  }

  /** One more node on the same database. */
  another(own: OfficeOptions = {}): Promise<TestNode> {
    return start(this.#database, { ...this.#options, ...own });
  }

  /** Someone with this phone, who asks for a code; returns when it is asked for. */
  async ask(phone: string, tenantId = "demo"): Promise<void> {
    await this.node.addPerson({ phones: [phone] }, tenantId);
    await this.askAgain(phone, tenantId);
  }

  async askAgain(recipient: string, tenantId = "demo"): Promise<void> {
    await requestOtp(this.node.app.services, { tenantId, recipient, address: "127.0.0.1" });
  }

  messages(): Promise<OutboxRow[]> {
    return this.node.app.services.store.db.selectFrom("outbox").selectAll().orderBy("created_at").execute();
  }

  async states(): Promise<string[]> {
    return (await this.messages()).map(({ state }) => state);
  }

  /** Waits until every message is in one of these states. */
  async until(...states: string[]): Promise<OutboxRow[]> {
    await until(async () => {
      const seen = await this.states();
      return seen.length > 0 && seen.every((state) => states.includes(state));
    });
    return this.messages();
  }

  async events(type: string): Promise<Record<string, unknown>[]> {
    const { db } = this.node.app.services.store;
    const rows = await db.selectFrom("journal_events").select("data").where("type", "=", type).orderBy("at").execute();
    return rows.map(({ data }) => JSON.parse(data) as Record<string, unknown>);
  }
}

async function start(database: FreshDatabase, { clock, otp, delivery, channels }: OfficeOptions): Promise<TestNode> {
  const parsed = delivery ? parseDelivery(JSON.stringify(delivery), () => "") : { channels: [], problems: [] };
  expect(parsed.problems).toEqual([]);
  const config: Partial<Config> = { delivery: parsed.channels };
  const node = await startNode({
    database: database.config,
    config,
    // Tests have no time for what hangs.
    policy: { otp: { ...defaultPolicy.otp, ...otp }, http: { ...defaultPolicy.http, grace: 0 } },
    ...(clock && { clock }),
    ...(channels && { channels }),
  });
  onTestFinished(() => node.close());
  return node;
}

/** A gateway that is gone when the test is over, and the channel that leads to it. */
export async function gatewayFor(name: string, own: Record<string, unknown> = {}) {
  const gateway: GatewayServer = await startGateway();
  onTestFinished(() => gateway.stop());
  const json = { to: "{to}", text: "{text}" };
  return { gateway, channel: { type: "http", name, url: gateway.url, json, messageId: "id", ...own } };
}

export const recipientsOf = ({ asked }: GatewayServer): string[] =>
  asked.map(({ body }) => (JSON.parse(body) as { to: string }).to);

export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await isTrue()) return;
    await sleep(25);
  }
  throw new Error(`It did not become true: ${String(isTrue)}`);
}
