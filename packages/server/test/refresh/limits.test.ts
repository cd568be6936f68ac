import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databases } from "../kit/databases.ts";
import { type Deployment, deploy, proving } from "../sessions/deployment.ts";

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

describe.each(databases)("how long a session lives, on $name", (database) => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await deploy(database);
    await deployment.node.addTenant("strict", {
      policy: { sessions: { bound: { idle: 6 * hour, absolute: day }, plain: { idle: 6 * hour, absolute: day } } },
    });
  });
  afterAll(() => deployment?.close());

  const kinds = [
    { kind: "a bound session", bound: true, idle: 35 * day, absolute: 90 * day, tenantId: "demo" },
    { kind: "a plain session", bound: false, idle: 14 * day, absolute: 30 * day, tenantId: "demo" },
    { kind: "a bound session of a strict tenant", bound: true, idle: 6 * hour, absolute: day, tenantId: "strict" },
    { kind: "a plain session of a strict tenant", bound: false, idle: 6 * hour, absolute: day, tenantId: "strict" },
  ];

  test.each(kinds)("$kind is good until it was idle for too long", async ({ bound, idle, tenantId }) => {
    const session = await deployment.signIn({ bound, tenantId });
    const { api } = deployment.node;
    deployment.clock.advance(idle - minute);
    const inTime = await api.refresh(session.refreshToken, proving(session));
    expect(inTime.status, inTime.text).toBe(200);
    expect(inTime.body.refreshExpiresIn).toBeGreaterThan(idle - minute);

    deployment.clock.advance(idle + 1);
    const before = await deployment.row(session);
    for (const token of [inTime.body.refreshToken, session.refreshToken]) {
      const late = await api.refresh(token, proving(session));
      expect(late.status).toBe(401);
      expect(late.body.code).toBe("invalid_grant");
    }
    expect(await deployment.row(session)).toEqual(before);
  });

  test.each(kinds)("$kind ends at its absolute limit, however often it is used", async (given) => {
    const { bound, idle, absolute, tenantId } = given;
    const session = await deployment.signIn({ bound, tenantId });
    const { api } = deployment.node;
    const end = (await deployment.row(session)).absolute_expires_at;
    const step = idle - minute;
    let { refreshToken } = session;
    let left = absolute - minute;
    while (left > 0) {
      const move = Math.min(step, left);
      deployment.clock.advance(move);
      left -= move;
      const answer = await api.refresh(refreshToken, proving(session));
      expect(answer.status, answer.text).toBe(200);
      refreshToken = answer.body.refreshToken;
      const row = await deployment.row(session);
      expect(row.absolute_expires_at).toBe(end);
      expect(row.expires_at).toBeLessThanOrEqual(end);
      expect(answer.body.refreshExpiresIn).toBeLessThanOrEqual(left + minute);
      expect(answer.body.expiresIn, "an access token outlives its session").toBeLessThanOrEqual(left + minute);
    }
    const last = await api.refresh(refreshToken, proving(session));
    expect(last.status, last.text).toBe(200);
    expect(last.body.expiresIn).toBeLessThanOrEqual(minute);

    deployment.clock.advance(minute + 1);
    for (const token of [refreshToken, last.body.refreshToken]) {
      expect((await api.refresh(token, proving(session))).body.code).toBe("invalid_grant");
    }
    expect((await api.checkToken(last.body.token)).body.code).toBe("invalid_token");
  });

  test("an access token is good for ten minutes and no second longer, whether it was checked before or not", async () => {
    const session = await deployment.signIn();
    const unseen = await deployment.node.api.refresh(session.refreshToken, proving(session));
    deployment.clock.advance(595);
    expect((await deployment.node.api.checkToken(session.token)).status).toBe(200);
    deployment.clock.advance(10);
    for (const token of [session.token, unseen.body.token]) {
      const check = await deployment.node.api.checkToken(token);
      expect(check.status).toBe(401);
      expect(check.body.code).toBe("invalid_token");
      expect((await deployment.node.api.me(token)).status).toBe(401);
    }
    expect((await deployment.node.api.refresh(session.refreshToken, proving(session))).status).toBe(200);
  });
});
