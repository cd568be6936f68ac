import { type Problem, routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultPolicy } from "../../src/config/policy.ts";
import { databases } from "../kit/databases.ts";
import { startNode, type TestNode } from "../kit/node.ts";
import { TestChannel } from "../kit/test-channel.ts";
import { Device, person } from "./device.ts";

const { sync } = defaultPolicy;
const hour = 3600;
const policy = {
  sync: {
    ...sync,
    citizen: { ...sync.citizen, events: { limit: 10, window: hour }, pulls: { limit: 3, window: hour } },
    worker: { ...sync.worker, bytes: { limit: 1_000_000, window: hour } },
    takenPerWorker: { limit: 3, window: hour },
  },
};

describe.each(databases)("limits of the exchange on $name", ({ fresh }) => {
  let node: TestNode;
  let drop: () => Promise<void>;
  const sms = new TestChannel("sms", "sms");
  const ids = (number: string) => ({ nationalIds: [{ type: "nid", number }] });

  beforeAll(async () => {
    const database = await fresh();
    drop = database.drop;
    node = await startNode({ database: database.config, policy, channels: [sms] });
    await node.addTenant("demo", { defaultCountry: "KE" });
    for (const username of ["amina", "juma", "sara", "noor"]) await node.addWorker({ username });
  });
  afterAll(async () => {
    await node?.close();
    await drop?.();
  });

  const send = (device: Device, ...events: unknown[]) => device.send({ deviceId: "d", events });
  const statusOf = ({ status, body }: { status: number; body: Problem }) => [status, body.code];

  test("a worker is told a few times that a number is taken; then taken or not is the same answer", async () => {
    const amina = await Device.ofWorker(node, "amina");
    const create = (device: Device, more: object) => device.event("create-individual", person("Somebody", { ...more }));
    await amina.pushAll(create(amina, { ...ids("100"), externalId: "HH-1" }));
    const juma = await Device.ofWorker(node, "juma");
    const guesses = [ids("100"), ids("101"), { ...ids("102"), externalId: "HH-1" }, ids("100")];
    const results = await juma.push(...guesses.map((guess) => create(juma, guess)));
    const taken = { code: "identifier_taken" };
    expect(results).toMatchObject([taken, { status: "accepted" }, taken, taken]);
    // Another session of the same worker is no way around it.
    const again = await Device.ofWorker(node, "juma");
    for (const number of ["100", "103"]) {
      const answer = await send(again, create(again, ids(number)));
      expect(statusOf(answer)).toEqual([429, "too_many_attempts"]);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    await again.pushAll(create(again, { phones: ["0712300001"] }), again.event("household-visit", {}));
    await amina.pushAll(create(amina, ids("103")));
  });

  test("a citizen sends and fetches little, whatever the session", async () => {
    const sara = await Device.ofWorker(node, "sara");
    const created = sara.event("create-individual", person("Citizen", { phones: ["0712300002"] }));
    await sara.pushAll(created);
    const { entityId } = created;
    const note = (device: Device) => device.event("complaint", {}, { entityId });
    const citizen = await Device.ofCitizen(node, sms, "+254712300002");
    await citizen.pushAll(...Array.from({ length: 10 }, () => note(citizen)));
    expect(statusOf(await send(citizen, note(citizen)))).toEqual([429, "rate_limited"]);
    for (let page = 0; page < 3; page += 1) expect((await citizen.fetch()).status).toBe(200);
    expect(statusOf(await citizen.fetch())).toEqual([429, "rate_limited"]);
    await sara.pushAll(note(sara));
    expect((await sara.fetch()).status).toBe(200);
  });

  test("bytes are counted per person", async () => {
    const noor = await Device.ofWorker(node, "noor");
    const large = (device: Device) =>
      Array.from({ length: 5 }, () => device.event("photo", { text: "x".repeat(200_000) }));
    await noor.pushAll(...large(noor));
    const again = await Device.ofWorker(node, "noor");
    expect(statusOf(await send(again, again.event("household-visit", {})))).toEqual([429, "rate_limited"]);
  });

  test("one session has one batch at work: the others wait or come back later, and nothing is lost", async () => {
    const amina = await Device.ofWorker(node, "amina");
    const batches = Array.from({ length: 16 }, () =>
      Array.from({ length: 100 }, () => amina.event("household-visit", {})),
    );
    const answers = await Promise.all(batches.map((batch) => send(amina, ...batch)));
    for (const { status, body, headers } of answers) {
      if (status === 200) expect(body.results.every((result) => result.status === "accepted")).toBe(true);
      else expect([status, body.code, headers.get("retry-after")]).toEqual([429, "rate_limited", "1"]);
    }
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(9);
    expect((await node.api.call(routes.me, { token: amina.token })).status).toBe(200);
    for (const [index, { status }] of answers.entries())
      if (status !== 200) await amina.push(...(batches[index] ?? []));
    const got = new Set((await amina.pull()).events.map(({ id }) => id));
    expect(batches.flat().every(({ id }) => got.has(id))).toBe(true);
  });
});
