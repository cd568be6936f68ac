import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databases } from "../kit/databases.ts";
import { type Deployment, deploy, nodeAt, proving, type SignedIn } from "../sessions/deployment.ts";

const minute = 60;
const day = 24 * 60 * minute;

describe.each(databases)("refresh on $name", (database) => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await deploy(database, { nodes: 2 });
  });
  afterAll(() => deployment?.close());

  const refresh = (session: SignedIn, refreshToken = session.refreshToken, place = 0) =>
    nodeAt(deployment.nodes, place).api.refresh(refreshToken, proving(session));

  async function rotated(session: SignedIn, times: number): Promise<string[]> {
    const tokens = [session.refreshToken];
    for (let count = 0; count < times; count += 1) {
      const answer = await refresh(session, tokens.at(-1));
      expect(answer.status, answer.text).toBe(200);
      tokens.push(answer.body.refreshToken);
    }
    return tokens;
  }

  describe.each([{ bound: true }, { bound: false }])("of a session with bound: $bound", ({ bound }) => {
    test("each use gives new tokens of the same session, one step on", async () => {
      const session = await deployment.signIn({ bound });
      const before = await deployment.row(session);
      const first = await refresh(session);
      expect(first.status, first.text).toBe(200);
      expect(first.body).toMatchObject({
        username: session.username,
        userId: session.userId,
        tenantId: "demo",
        deviceToken: session.deviceToken,
        expiresIn: 600,
      });
      const idle = (bound ? 35 : 14) * day;
      expect(first.body.refreshExpiresIn).toBeLessThanOrEqual(idle);
      expect(first.body.refreshExpiresIn).toBeGreaterThan(idle - 10);
      const second = await refresh(session, first.body.refreshToken, 1);
      expect(second.status, second.text).toBe(200);
      const answers = [session, first.body, second.body];
      expect(new Set(answers.map(({ refreshToken }) => refreshToken)).size).toBe(3);
      expect(new Set(answers.map(({ token }) => token)).size).toBe(3);
      for (const { token } of answers) expect((await deployment.node.api.checkToken(token)).status).toBe(200);

      const after = await deployment.row(second.body);
      expect(after).toMatchObject({ id: before.id, counter: 2, jkt: before.jkt, created_at: before.created_at });
      expect(after.absolute_expires_at).toBe(before.absolute_expires_at);
      expect(after.jkt === null).toBe(!bound);
    });

    test("the parent gives the same successor, from every node, and nothing moves", async () => {
      const session = await deployment.signIn({ bound });
      const [parent = "", head] = await rotated(session, 1);
      const before = await deployment.row(session);
      deployment.clock.advance(25);
      for (const place of [0, 1, 0]) {
        const again = await refresh(session, parent, place);
        expect(again.status, again.text).toBe(200);
        expect(again.body.refreshToken).toBe(head);
        expect((await deployment.node.api.checkToken(again.body.token)).status).toBe(200);
      }
      expect(await deployment.row(session)).toEqual(before);
    });

    test("fifty uses at once of one head have one successor", async () => {
      const session = await deployment.signIn({ bound });
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) => refresh(session, session.refreshToken, index % 2)),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
      const successors = new Set(answers.map(({ body }) => body.refreshToken));
      expect(successors.size).toBe(1);
      expect((await deployment.row(session)).counter).toBe(1);
      const [successor] = successors;
      expect((await refresh(session, successor)).status).toBe(200);
    });

    test("fifty uses at once of one parent change nothing", async () => {
      const session = await deployment.signIn({ bound });
      const [parent, head] = await rotated(session, 1);
      const before = await deployment.row(session);
      const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => refresh(session, parent, index % 2)));
      expect(new Set(answers.map(({ status, body }) => `${status} ${body.refreshToken}`))).toEqual(
        new Set([`200 ${head}`]),
      );
      expect(await deployment.row(session)).toEqual(before);
    });
  });

  describe("of a bound session", () => {
    test("the parent is good for as long as the session lives", async () => {
      const session = await deployment.signIn();
      const [parent, head] = await rotated(session, 1);
      const before = await deployment.row(session);
      deployment.clock.advance(34 * day);
      const late = await refresh(session, parent);
      expect(late.status, late.text).toBe(200);
      expect(late.body.refreshToken).toBe(head);
      expect(await deployment.row(session)).toEqual(before);
      expect((await refresh(session, head)).status).toBe(200);
    });

    test("an older token is superseded, changes nothing, and the newest goes on; also after a restart", async () => {
      const session = await deployment.signIn();
      const [oldest, older, parent, head] = await rotated(session, 3);
      const before = await deployment.row(session);
      const superseded = async (place: number) => {
        for (const token of [oldest, older]) {
          const answer = await refresh(session, token, place);
          expect(answer.status).toBe(409);
          expect(answer.body.code).toBe("refresh_superseded");
          expect(answer.text).not.toContain(session.sid);
        }
        expect(await deployment.row(session)).toEqual(before);
      };
      await superseded(0);
      await deployment.restart(nodeAt(deployment.nodes, 1));
      await superseded(1);
      expect((await refresh(session, parent, 1)).body.refreshToken).toBe(head);
      expect((await refresh(session, head, 1)).status).toBe(200);
    });
  });

  /** As after a fail-over or a restore that lost the last rotations. */
  async function setBack(session: SignedIn, counter: number): Promise<void> {
    const { db } = deployment.store;
    await db.updateTable("sessions").set({ counter }).where("id", "=", session.sid).execute();
  }

  test("a bound session goes on with a token that the database has forgotten, and in order", async () => {
    const session = await deployment.signIn();
    const tokens = await rotated(session, 3);
    await setBack(session, 1);
    const ahead = await refresh(session, tokens[3]);
    expect(ahead.status, ahead.text).toBe(200);
    expect((await deployment.row(session)).counter).toBe(4);
    expect((await refresh(session, tokens[3], 1)).body.refreshToken).toBe(ahead.body.refreshToken);
    expect((await refresh(session, tokens[2])).body.code).toBe("refresh_superseded");
  });

  test("a plain session ends with a token that the database has forgotten: nobody can say whose it is", async () => {
    const session = await deployment.signIn({ bound: false });
    const tokens = await rotated(session, 3);
    await setBack(session, 1);
    expect((await refresh(session, tokens[3])).body.code).toBe("session_revoked");
    expect(await deployment.row(session)).toMatchObject({ revoked_reason: "reuse" });
  });

  describe("of a plain session", () => {
    test("the parent a moment too late ends the family, here and on other nodes", async () => {
      const session = await deployment.signIn({ bound: false });
      const [parent, head] = await rotated(session, 1);
      deployment.clock.advance(31);
      const late = await refresh(session, parent);
      expect(late.status).toBe(401);
      expect(late.body.code).toBe("session_revoked");
      expect(await deployment.row(session)).toMatchObject({ revoked_reason: "reuse" });
      for (const place of [0, 1]) expect((await refresh(session, head, place)).body.code).toBe("session_revoked");
      expect((await deployment.node.api.checkToken(session.token)).body.code).toBe("session_revoked");
    });

    test("an older token ends the family, also after a restart", async () => {
      const session = await deployment.signIn({ bound: false });
      const tokens = await rotated(session, 2);
      await deployment.restart(nodeAt(deployment.nodes, 1));
      expect((await refresh(session, tokens[0], 1)).body.code).toBe("session_revoked");
      for (const token of tokens) expect((await refresh(session, token, 1)).body.code).toBe("session_revoked");
      expect(await deployment.row(session)).toMatchObject({ revoked_reason: "reuse", counter: 2 });
    });

    test("reuse of one family leaves the worker's others alone", async () => {
      const first = await deployment.signIn({ bound: false });
      const second = await deployment.signIn({ bound: false, username: first.username });
      await rotated(first, 2);
      expect((await refresh(first)).body.code).toBe("session_revoked");
      expect((await refresh(second)).status).toBe(200);
    });

    test("reuse from fifty at once with the owner ends it for good", async () => {
      const session = await deployment.signIn({ bound: false });
      const [oldest, , head] = await rotated(session, 2);
      const isThief = (index: number) => index % 10 === 9;
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) => refresh(session, isThief(index) ? oldest : head, index % 2)),
      );
      const thieves = answers.filter((_, index) => isThief(index));
      expect(thieves.map(({ body }) => body.code)).toEqual(thieves.map(() => "session_revoked"));
      const given = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.refreshToken));
      expect(given.size).toBeLessThanOrEqual(1);
      for (const token of [head, ...given]) expect((await refresh(session, token)).body.code).toBe("session_revoked");
    });
  });
});
