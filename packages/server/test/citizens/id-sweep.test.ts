import { type CitizenSession, type Problem, routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultPolicy } from "../../src/config/policy.ts";
import { MovableClock } from "../kit/clock.ts";
import { databases } from "../kit/databases.ts";
import { startNode, type TestNode } from "../kit/node.ts";

type Answer = CitizenSession & Problem;

const birth = { year: 1984, month: 5, day: 6, estimated: false };
const unknown = 20;

describe.each(databases)("sweeps over ID numbers, and one person again and again, on $name", ({ fresh }) => {
  let node: TestNode;
  let drop: () => Promise<void>;
  const clock = new MovableClock();

  beforeAll(async () => {
    expect(defaultPolicy.nationalId).toMatchObject({
      breaker: { unknown: 100, percent: 20, window: 3600 },
      perPerson: { limit: 30, window: 3600 },
    });
    const database = await fresh();
    drop = database.drop;
    const breaker = { ...defaultPolicy.nationalId.breaker, unknown };
    const policy = { nationalId: { ...defaultPolicy.nationalId, breaker } };
    node = await startNode({ database: database.config, clock, policy });
    for (const id of ["padded", "honest", "eager"]) await node.addTenant(id);
  });
  afterAll(async () => {
    await node?.close();
    await drop?.();
  });

  const verify = (tenantId: string, idNumber: string, headers: Record<string, string> = {}) => {
    const body = { idNumber, dateOfBirth: "1984-05-06", tenantId };
    return node.api.call<Answer>(routes.idVerify, { body, headers });
  };
  /** A few at a time: it is not about how much a database can take. */
  async function times<T>(count: number, make: (turn: number) => Promise<T>): Promise<T[]> {
    const all: T[] = [];
    for (let first = 0; first < count; first += 5) {
      const few = Math.min(5, count - first);
      all.push(...(await Promise.all(Array.from({ length: few }, (_, turn) => make(first + turn)))));
    }
    return all;
  }
  async function addPeople(tenantId: string, count: number): Promise<void> {
    await times(count, (person) =>
      node.addPerson({ birth, nationalIds: [{ type: "nid", number: `P${person}` }] }, tenantId),
    );
  }
  async function sweep(tenantId: string): Promise<void> {
    for (const answer of await times(unknown, (turn) => verify(tenantId, `GUESS${turn}`))) {
      expect(answer.body.code).toBe("invalid_identity");
    }
    clock.advance(2);
  }

  test("a few people who sign in again and again do not hide a sweep", async () => {
    await addPeople("padded", 5);
    for (let person = 0; person < 4; person += 1) {
      for (const answer of await times(25, () => verify("padded", `P${person}`))) expect(answer.status).toBe(200);
    }
    await sweep("padded");
    // Nobody here has an address for a second step.
    expect((await verify("padded", "P4")).body.code).toBe("assistance_required");
  });

  test("many people who sign in are no sweep, with as many unknown numbers among them", async () => {
    await addPeople("honest", 90);
    for (const answer of await times(89, (person) => verify("honest", `P${person}`))) expect(answer.status).toBe(200);
    await sweep("honest");
    expect((await verify("honest", "P89")).status).toBe(200);
  });

  test("one person signs in 30 times an hour, also at once; a device they have used before counts by itself", async () => {
    await addPeople("eager", 2);
    const answers = await times(25, () => verify("eager", "P0"));
    answers.push(...(await Promise.all(Array.from({ length: 15 }, () => verify("eager", "P0")))));
    const inside = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect([inside.length, refused.length]).toEqual([30, 10]);
    for (const { body, headers } of refused) {
      expect(body.code).toBe("too_many_attempts");
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(3000);
    }
    const { db } = node.app.services.store;
    const kept = async (table: "devices" | "sessions") =>
      (await db.selectFrom(table).select("id").where("tenant_id", "=", "eager").execute()).length;
    expect([await kept("devices"), await kept("sessions")]).toEqual([30, 30]);

    const device = { "x-device-token": inside[0]?.body.deviceToken ?? "" };
    expect((await verify("eager", "P0", device)).status).toBe(200);
    expect((await verify("eager", "P1")).status).toBe(200);
    clock.advance(3600);
    expect((await verify("eager", "P0")).status).toBe(200);
  }, 60_000);
});
