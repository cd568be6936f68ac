import { hash, randomBytes } from "node:crypto";
import type { Session } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallOptions } from "../kit/api-client.ts";
import { databases } from "../kit/databases.ts";
import { type Deployment, deploy, nodeAt, proving, type SignedIn } from "./deployment.ts";
import { refusedOnEveryNode } from "./refused-on-every-node.ts";

const sha256 = (token: string) => hash("sha256", token, "buffer");

describe.each(databases)("logout on $name", (database) => {
  const username = "amina";
  let deployment: Deployment;
  let bystander: SignedIn;
  beforeAll(async () => {
    deployment = await deploy(database, { nodes: 2 });
    await deployment.node.addTenant("other");
    await deployment.node.addWorker({ username });
    bystander = await deployment.signIn({ username });
  });
  afterAll(() => deployment?.close());

  const logout = (options: CallOptions) => deployment.node.api.logout(options);
  async function refreshed(session: SignedIn): Promise<Session> {
    const answer = await deployment.node.api.refresh(session.refreshToken, proving(session));
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }
  async function lives(session: SignedIn): Promise<boolean> {
    return (await deployment.row(session)).revoked_at === null;
  }

  const ways: Record<string, (first: Session, next: Session) => CallOptions> = {
    "the access token": (_, { token }) => ({ token }),
    "an older access token": ({ token }) => ({ token }),
    "the refresh token": (_, { refreshToken }) => ({ body: { refreshToken } }),
    "its parent": ({ refreshToken }) => ({ body: { refreshToken } }),
    "the hash of the refresh token": (_, { refreshToken }) => ({
      body: { refreshTokenHash: sha256(refreshToken).toString("base64url") },
    }),
    "that hash in hex": (_, { refreshToken }) => ({
      body: { refreshTokenHash: sha256(refreshToken).toString("hex") },
    }),
    "that hash in capital hex": (_, { refreshToken }) => ({
      body: { refreshTokenHash: sha256(refreshToken).toString("hex").toUpperCase() },
    }),
    "the hash of its parent": ({ refreshToken }) => ({
      body: { refreshTokenHash: sha256(refreshToken).toString("base64url") },
    }),
    "all of them": (_, { token, refreshToken }) => ({
      token,
      body: { refreshToken, refreshTokenHash: sha256(refreshToken).toString("hex"), tenantId: "demo" },
    }),
  };

  test.each(Object.entries(ways))("by %s ends the session, and no other", async (_, way) => {
    for (const bound of [true, false]) {
      const session = await deployment.signIn({ bound, username });
      const next = await refreshed(session);
      const answer = await logout(way(session, next));
      expect(answer.status, answer.text).toBe(204);
      for (const { api } of deployment.nodes) {
        for (const { refreshToken } of [next, session]) {
          const refusal = await api.refresh(refreshToken, proving(session));
          expect([refusal.status, refusal.body.code]).toEqual([401, "session_revoked"]);
        }
      }
      for (const { token } of [next, session]) {
        expect((await deployment.node.api.checkToken(token)).body.code).toBe("session_revoked");
        expect((await deployment.node.api.me(token)).body.code).toBe("session_revoked");
      }
      expect(await lives(bystander)).toBe(true);
      expect((await deployment.node.api.checkToken(bystander.token)).status).toBe(200);
    }
  });

  test("reaches the access tokens on every node within 5 s", async () => {
    const sessions = [await deployment.signIn({ username }), await deployment.signIn({ username, bound: false })];
    for (const { token } of sessions) {
      for (const { api } of deployment.nodes) expect((await api.checkToken(token)).status).toBe(200);
      expect((await logout({ token })).status).toBe(204);
    }
    await refusedOnEveryNode(deployment, sessions);
  });

  test("of what is unknown, malformed or ended is a 204, and changes nothing", async () => {
    const session = await deployment.signIn({ username });
    const unknown: CallOptions[] = [
      { body: { refreshTokenHash: randomBytes(32).toString("base64url") } },
      { body: { refreshTokenHash: randomBytes(32).toString("hex") } },
      { body: { refreshToken: "not a token" } },
      { body: { refreshToken: session.refreshToken.slice(0, -1) } },
      { body: { refreshToken: `${session.sid}.1.${randomBytes(32).toString("base64url")}` } },
      { body: { refreshTokenHash: sha256(session.token).toString("base64url") } },
      { body: { refreshTokenHash: sha256(session.deviceToken).toString("base64url") } },
    ];
    for (const options of unknown) expect((await logout(options)).status).toBe(204);
    expect(await lives(session)).toBe(true);

    expect((await logout({ token: session.token })).status).toBe(204);
    const before = await deployment.row(session);
    for (const again of [{ token: session.token }, { body: { refreshToken: session.refreshToken } }]) {
      expect((await logout(again)).status).toBe(204);
    }
    expect(await deployment.row(session)).toEqual(before);
  });

  test("of two sessions at once is a 400, and ends neither", async () => {
    const [one, two] = [await deployment.signIn({ username }), await deployment.signIn({ username })];
    const refreshTokenHash = sha256(two.refreshToken).toString("base64url");
    const mixed: CallOptions[] = [
      { token: one.token, body: { refreshToken: two.refreshToken } },
      { token: one.token, body: { refreshTokenHash } },
      { body: { refreshToken: one.refreshToken, refreshTokenHash } },
    ];
    for (const options of mixed) {
      const answer = await logout(options);
      expect([answer.status, answer.body?.code]).toEqual([400, "invalid_request"]);
    }
    expect([await lives(one), await lives(two)]).toEqual([true, true]);
  });

  test("with a refresh token and another's hash is a 400, and ends nothing", async () => {
    const session = await deployment.signIn({ username });
    const next = await refreshed(session);
    for (const other of [randomBytes(32), sha256(session.refreshToken)]) {
      for (const form of ["base64url", "hex"] as const) {
        const body = { refreshToken: next.refreshToken, refreshTokenHash: other.toString(form) };
        const answer = await logout({ body });
        expect([answer.status, answer.body?.code, answer.body?.field]).toEqual([
          400,
          "invalid_request",
          "refreshTokenHash",
        ]);
      }
    }
    expect(await lives(session)).toBe(true);
  });

  test("that names no session, or shows a bad token, is a 401", async () => {
    const session = await deployment.signIn({ username });
    const bad: CallOptions[] = [{}, { body: {} }, { token: "x" }, { token: `${session.token}x` }];
    for (const options of bad) {
      const answer = await logout(options);
      expect([answer.status, answer.body?.code]).toEqual([401, "invalid_token"]);
    }
    expect(await lives(session)).toBe(true);
  });

  test("with another tenant's name does nothing by refresh token or hash; an access token names its own tenant", async () => {
    const session = await deployment.signIn({ username });
    const headers = { "x-tenant-id": "other" };
    const refreshTokenHash = sha256(session.refreshToken).toString("base64url");
    expect((await logout({ headers, body: { refreshToken: session.refreshToken } })).status).toBe(204);
    expect((await logout({ body: { refreshTokenHash, tenantId: "other" } })).status).toBe(204);
    expect(await lives(session)).toBe(true);
    expect((await logout({ headers, token: session.token })).status).toBe(204);
    expect(await lives(session), "the caller was told that it is logged out").toBe(false);
  });

  test("the hash of a refresh token opens nothing", async () => {
    const session = await deployment.signIn({ bound: false, username });
    for (const form of ["base64url", "hex"] as const) {
      const refusal = await deployment.node.api.refresh(sha256(session.refreshToken).toString(form));
      expect(refusal.body.code).toBe("invalid_grant");
    }
    expect(await lives(session)).toBe(true);
  });

  test("from twenty places at once, beside refreshes, ends the session once", async () => {
    for (const bound of [true, false]) {
      const session = await deployment.signIn({ bound, username });
      const { refreshToken } = session;
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) => {
          const { api } = nodeAt(deployment.nodes, index % 2);
          return index % 4 < 2
            ? api.refresh(refreshToken, proving(session))
            : api.logout(index % 8 < 4 ? { token: session.token } : { body: { refreshToken } });
        }),
      );
      for (const { status, text } of answers) expect([200, 204, 401], text).toContain(status);
      const given = answers.flatMap(({ status, body }) =>
        status === 200 ? [(body as unknown as Session).refreshToken] : [],
      );
      for (const token of [refreshToken, ...given]) {
        const refusal = await deployment.node.api.refresh(token, proving(session));
        expect(refusal.body.code).toBe("session_revoked");
      }
      const events = await deployment.store.db
        .selectFrom("journal_events")
        .select("type")
        .where("session_id", "=", session.sid)
        .where("type", "=", "session.ended")
        .execute();
      expect(events).toHaveLength(1);
    }
  });
});
