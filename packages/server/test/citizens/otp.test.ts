import { type CitizenSession, type Problem, routes } from "@fieldgate/contract";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databases } from "../kit/databases.ts";
import { startNode, type TestNode } from "../kit/node.ts";
import { TestChannel } from "../kit/test-channel.ts";

type Answer = CitizenSession & Problem;

describe.each(databases)("one-time codes on $name", ({ fresh }) => {
  let node: TestNode;
  let drop: () => Promise<void>;
  const sms = new TestChannel("sms", "sms");
  const email = new TestChannel("email", "email");

  beforeAll(async () => {
    const database = await fresh();
    drop = database.drop;
    node = await startNode({ database: database.config, channels: [sms, email] });
    await node.addTenant("demo", { defaultCountry: "KE" });
  });
  afterAll(async () => {
    await node?.close();
    await drop?.();
  });

  const request = (recipient: string) => node.api.call<Answer>(routes.otpRequest, { body: { recipient } });
  const verify = (body: object) => node.api.call<Answer>(routes.otpVerify, { body });

  test("a code comes by SMS, in whatever way the number is written, and signs its owner in once", async () => {
    const id = await node.addPerson({ names: { given: "Baraka" }, phones: ["0712 000 001"] });
    const asked = await request("0712000001");
    expect(asked.body).toEqual({ success: true, expiresIn: 600 });
    const code = await sms.codeFor("+254712000001");

    const answer = await verify({ recipient: "+254 712 000 001", code });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.username).toBe(`self-service:${id}`);
    expect(decodeJwt(answer.body.token)).toMatchObject({ scope: "self-service", entityId: id, sub: id, amr: ["otp"] });
    expect((await node.api.me(answer.body.token)).body).toMatchObject({ kind: "beneficiary", entityId: id, roles: [] });
    expect((await node.api.checkToken(answer.body.token)).body).toMatchObject({ valid: true, provider: "otp" });
    expect((await verify({ recipient: "0712000001", code })).body.code).toBe("invalid_code");
  });

  test("a household that shares a phone chooses who signs in", async () => {
    const amani = await node.addPerson({ names: { given: "Amani", family: "Otieno" }, phones: ["0712000002"] });
    const zawadi = await node.addPerson({ names: { given: "Zawadi" }, phones: ["0712000002"] });
    await request("0712000002");
    const code = await sms.codeFor("+254712000002");
    const choice = await verify({ recipient: "0712000002", code });
    expect(choice.status).toBe(409);
    expect(choice.body.selection).toEqual([
      { entityId: amani, label: "Amani" },
      { entityId: zawadi, label: "Zawadi" },
    ]);
    const { selectionToken } = choice.body;
    expect((await verify({ selectionToken, entityId: "somebody" })).body.code).toBe("invalid_code");
    const answer = await verify({ selectionToken, entityId: zawadi });
    expect(answer.body.username).toBe(`self-service:${zawadi}`);
    expect((await verify({ selectionToken, entityId: amani })).body.code).toBe("invalid_code");
  });

  test("a code by email is of low assurance", async () => {
    await node.addPerson({ emails: ["Neema@Example.org"] });
    await request("neema@example.ORG");
    const code = await email.codeFor("neema@example.org");
    const answer = await verify({ recipient: "neema@example.org", code });
    expect(decodeJwt(answer.body.token)).toMatchObject({ acr: "low" });
  });

  test("nobody's address answers the same, and nothing is sent", async () => {
    const before = sms.sent.length;
    const unknown = await request("0712999999");
    expect(unknown.body).toEqual({ success: true, expiresIn: 600 });
    expect((await verify({ recipient: "0712999999", code: "123456" })).body.code).toBe("invalid_code");
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(sms.sent).toHaveLength(before);
  });

  test.each(["0712 000 990", "(0712) 000-991", "+254712000992", "nobody@example.org", "12", "07x2", "", "++"])(
    "an unknown tenant answers like a tenant to %j",
    async (recipient) => {
      const shape = ({ status, body }: { status: number; body: Answer }) => {
        const { instance: _, ...rest } = body as unknown as Record<string, unknown>;
        return { status, rest };
      };
      const ask = (tenantId: string) => node.api.call<Answer>(routes.otpRequest, { body: { recipient, tenantId } });
      expect(shape(await ask("nowhere"))).toEqual(shape(await ask("demo")));
      const tryOne = (tenantId: string) => verify({ recipient, code: "000000", tenantId });
      expect(shape(await tryOne("nowhere"))).toEqual(shape(await tryOne("demo")));
    },
  );

  test("an ID number with its date of birth gives a short token; a year alone needs a second step", async () => {
    const full = { year: 1984, month: 5, day: 6, estimated: false };
    const id = await node.addPerson({ birth: full, nationalIds: [{ type: "nid", number: "0012-3456" }] });
    const sure = await node.api.call<Answer>(routes.idVerify, {
      body: { idNumber: "٠٠١٢ ٣٤٥٦", dateOfBirth: "1984-05-06" },
    });
    expect(decodeJwt(sure.body.token)).toMatchObject({ entityId: id, amr: ["kba"], acr: "low" });
    expect(sure.body.expiresIn).toBe(900);
    for (const dateOfBirth of ["1984-05-07", "1984-05", "1984"]) {
      const wrong = await node.api.call<Answer>(routes.idVerify, { body: { idNumber: "00123456", dateOfBirth } });
      expect(wrong.body.code).toBe("invalid_identity");
    }

    await node.addPerson({
      birth: { year: 1950, estimated: true },
      phones: ["0712000003"],
      nationalIds: [{ type: "nid", number: "777" }],
    });
    const step = await node.api.call<Answer>(routes.idVerify, { body: { idNumber: "777", dateOfBirth: "1950" } });
    expect(step.body).toMatchObject({ code: "step_up_required", destination: "••••••003" });
    const code = await sms.codeFor("+254712000003");
    const done = await verify({ challenge: step.body.challenge, code });
    expect(decodeJwt(done.body.token)).toMatchObject({ amr: ["kba", "otp"], acr: "substantial" });
  });
});
