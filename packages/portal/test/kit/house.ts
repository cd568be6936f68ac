import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { Config } from "../../../server/src/config/config.ts";
import type { Policy } from "../../../server/src/config/policy.ts";
import { issueCard } from "../../../server/src/people/cards.ts";
import { createKeyVault } from "../../../server/src/tokens/key-vault.ts";
import { startNode, type TestNode, testSecret } from "../../../server/test/kit/node.ts";
import { TestChannel } from "../../../server/test/kit/test-channel.ts";
import { buildPortal } from "../../build/build-portal.ts";

export const worker = { username: "amina", password: "acacia-lantern-river-42" };
export const householdPhone = "+254700000111";
export const yearPhone = "+254700000222";

/** A real service with the people of a small programme, and the portal as it is built. */
export interface House {
  readonly url: string;
  readonly node: TestNode;
  readonly sms: TestChannel;
  readonly email: TestChannel;
  /** What the card of the person with an ID number says. */
  readonly card: string;
  stop(): Promise<void>;
  restart(): Promise<void>;
}

interface HouseOptions {
  readonly settings?: object;
  readonly config?: Partial<Config>;
  readonly policy?: Partial<Policy>;
}

export function useHouse({ settings = {}, config = {}, policy = {} }: HouseOptions = {}): House {
  const sms = new TestChannel("sms", "sms");
  const email = new TestChannel("email", "email");
  let folder = "";
  let node: TestNode | undefined;
  let card = "";
  let url = "";

  const start = (more: Partial<Config> = {}) =>
    startNode({
      database: { kind: "sqlite", file: join(folder, "fieldgate.db") },
      channels: [sms, email],
      config: { ...config, ...more },
      policy,
    });

  beforeAll(async () => {
    await buildPortal();
    folder = await mkdtemp(join(tmpdir(), "fieldgate-portal-"));
    node = await start();
    url = node.url;
    const adapters = ["otp", "id"].map((type) => ({ type, fields: { serverUrl: url } }));
    await node.addTenant("demo", { defaultCountry: "KE", adapters, ...settings });
    await node.addWorker(worker);
    card = await settle(node);
  }, 60_000);
  afterAll(async () => {
    await node?.close();
    if (folder) await rm(folder, { recursive: true });
  });

  return {
    sms,
    email,
    get url() {
      return `${url}/`;
    },
    get card() {
      return card;
    },
    get node() {
      if (!node) throw new Error("The service is not running.");
      return node;
    },
    async stop() {
      await node?.close();
      node = undefined;
    },
    async restart() {
      node = await start({
        baseUrl: url,
        audience: url,
        listen: { host: "127.0.0.1", port: Number(new URL(url).port) },
      });
    },
  };
}

const born = (year: number, month: number, day: number) => ({ year, month, day, estimated: false });

async function settle(node: TestNode): Promise<string> {
  for (const given of ["Wanjiku", "Kamau", "Njeri"]) {
    await node.addPerson({ names: { given }, birth: born(1984, 3, 12), phones: [householdPhone] });
  }
  await node.addPerson({ names: { given: "Zawadi" }, emails: ["zawadi@example.org"] });
  const nationalIds = (number: string) => [{ type: "national-id", number }];
  const byId = await node.addPerson({ birth: born(1975, 6, 30), nationalIds: nationalIds("12345678") });
  const birth = { year: 1950, estimated: true };
  await node.addPerson({ birth, nationalIds: nationalIds("87654321"), phones: [yearPhone] });
  const { dataKeys, store, clock } = node.app.services;
  const context = {
    cipher: await dataKeys.cipher("demo"),
    vault: createKeyVault(testSecret),
    baseUrl: node.url,
    now: clock.now(),
  };
  return (await store.transaction((tx) => issueCard(tx, context, byId, 3600))).text;
}
