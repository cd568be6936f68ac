import { type CitizenSession, type OwnSessions, type Problem, routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databases } from "../kit/databases.ts";
import { startNode, type TestNode } from "../kit/node.ts";
import { TestChannel } from "../kit/test-channel.ts";
import { type Deployment, deploy, proving, sidOf } from "./deployment.ts";
import { refusedOnEveryNode } from "./refused-on-every-node.ts";

const listed = async ({ api }: TestNode, token: string) => {
  const answer = await api.call<OwnSessions & Problem>(routes.ownSessions, { token });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.sessions;
};
const end = ({ api }: TestNode, token: string, id: string) =>
  api.call({ ...routes.endOwnSession, path: `/api/users/me/sessions/${id}` }, { token });

describe.each(databases)("a worker's own sessions on $name", (database) => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await deploy(database, { nodes: 2 });
  });
  afterAll(() => deployment?.close());

  test("are listed, and one that is ended is over on every node", async () => {
    const phone = await deployment.signIn();
    const tablet = await deployment.signIn({ username: phone.username });
    const stranger = await deployment.signIn();
    const sessions = await listed(deployment.node, phone.token);
    expect(sessions.map(({ id, current }) => [id, current])).toEqual(
      expect.arrayContaining([
        [phone.sid, true],
        [tablet.sid, false],
      ]),
    );
    expect(sessions).toHaveLength(2);
    expect(sessions[0]).toMatchObject({ provider: "password", assisted: false });
    expect(Date.parse(sessions[0]?.expiresAt ?? "")).toBeGreaterThan(Date.parse(sessions[0]?.usedAt ?? ""));

    expect((await end(deployment.node, phone.token, tablet.sid)).status).toBe(204);
    const refusal = await deployment.node.api.refresh(tablet.refreshToken, proving(tablet));
    expect(refusal.body.code).toBe("session_revoked");
    await refusedOnEveryNode(deployment, [tablet]);
    expect((await listed(deployment.node, phone.token)).map(({ id }) => id)).toEqual([phone.sid]);
    expect(await deployment.row(tablet)).toMatchObject({ revoked_reason: "ended_by_owner" });
    const events = await deployment.store.db
      .selectFrom("journal_events")
      .select(["subject", "data"])
      .where("type", "=", "session.ended")
      .where("session_id", "=", tablet.sid)
      .execute();
    expect(events.map(({ subject, data }) => [subject, JSON.parse(data)])).toEqual([
      [phone.userId, { reason: "ended_by_owner", count: 1 }],
    ]);
    // Again is as good as done; the others live.
    expect((await end(deployment.node, phone.token, tablet.sid)).status).toBe(204);
    for (const { token } of [phone, stranger]) expect((await deployment.node.api.checkToken(token)).status).toBe(200);
  });

  test("are nobody else's to end", async () => {
    await deployment.node.addTenant("other");
    const owner = await deployment.signIn();
    const stranger = await deployment.signIn();
    const foreigner = await deployment.signIn({ tenantId: "other" });
    for (const { token } of [stranger, foreigner]) {
      const refusal = await end(deployment.node, token, owner.sid);
      expect([refusal.status, refusal.body.code]).toEqual([404, "session_not_found"]);
    }
    for (const id of ["nothing", "%20", owner.userId, "' or 1=1"]) {
      expect((await end(deployment.node, owner.token, encodeURIComponent(id))).status).toBe(404);
    }
    expect((await deployment.row(owner)).revoked_at).toBeNull();
    expect((await end(deployment.node, "no.token.at-all", owner.sid)).body.code).toBe("invalid_token");
  });

  test("the session in use can be ended too: its token is then worth nothing", async () => {
    const session = await deployment.signIn();
    expect((await end(deployment.node, session.token, session.sid)).status).toBe(204);
    expect((await end(deployment.node, session.token, session.sid)).body.code).toBe("session_revoked");
    await refusedOnEveryNode(deployment, [session]);
  });
});

describe.each(databases)("a citizen's own sessions on $name", ({ fresh }) => {
  const sms = new TestChannel("sms", "sms");
  let node: TestNode;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const database = await fresh();
    drop = database.drop;
    node = await startNode({ database: database.config, channels: [sms] });
    await node.addTenant("demo", { defaultCountry: "KE" });
  });
  afterAll(async () => {
    await node?.close();
    await drop?.();
  });

  test("with little proof one sees and ends only what was begun with little proof", async () => {
    const phone = "+254712000901";
    const birth = { year: 1980, month: 2, day: 3, estimated: false };
    const nationalIds = [{ type: "national-id", number: "55667788" }];
    await node.addPerson({ phones: [phone], birth, nationalIds });
    const byId = async () => {
      const body = { idNumber: "55667788", dateOfBirth: "1980-02-03" };
      return (await node.api.call<CitizenSession>(routes.idVerify, { body })).body;
    };
    await node.api.call(routes.otpRequest, { body: { recipient: phone } });
    const code = await sms.codeFor(phone);
    const byCode = (await node.api.call<CitizenSession>(routes.otpVerify, { body: { recipient: phone, code } })).body;
    const [first, second] = [await byId(), await byId()];

    expect(new Set((await listed(node, byCode.token)).map(({ provider }) => provider))).toEqual(new Set(["otp", "id"]));
    expect((await listed(node, first.token)).map(({ provider }) => provider)).toEqual(["id", "id"]);
    expect((await end(node, first.token, sidOf(byCode))).body.code).toBe("session_not_found");
    expect((await end(node, first.token, sidOf(second))).status).toBe(204);
    expect((await end(node, byCode.token, sidOf(first))).status).toBe(204);
    for (const { token } of [first, second]) {
      expect((await node.api.checkToken(token)).body.code).toBe("session_revoked");
    }
    expect((await node.api.checkToken(byCode.token)).status).toBe(200);
  });
});
