import { randomBytes } from "node:crypto";
import { routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databases } from "../kit/databases.ts";
import { DpopKey } from "../kit/dpop-key.ts";
import { type Deployment, deploy, proving, publicUrl, type SignedIn } from "../sessions/deployment.ts";

describe.each(databases)("tokens that are none, on $name", (database) => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await deploy(database);
    await deployment.node.addTenant("other", { hosts: ["other.example"] });
  });
  afterAll(() => deployment?.close());

  /** Refused, and the session is what it was. */
  async function refused(session: SignedIn, body: Record<string, unknown>, headers: Record<string, string> = {}) {
    const before = await deployment.row(session);
    const answer = await deployment.node.api.call(routes.refresh, { body, headers, ...proving(session) });
    expect(answer.status, answer.text).toBe(401);
    expect(answer.body.code).toBe("invalid_grant");
    expect(await deployment.row(session)).toEqual(before);
  }

  describe.each([{ bound: true }, { bound: false }])("for a session with bound: $bound", ({ bound }) => {
    let session: SignedIn;
    beforeAll(async () => {
      session = await deployment.signIn({ bound });
    });

    const parts = () => {
      const [family = "", counter = "", mac = ""] = session.refreshToken.split(".");
      return { family, counter: Number(counter), mac };
    };
    const forgeries: Record<string, () => string> = {
      "another counter": () => `${parts().family}.${parts().counter + 1}.${parts().mac}`,
      "a counter far ahead": () => `${parts().family}.999999999999999.${parts().mac}`,
      "a counter beyond all numbers": () => `${parts().family}.${"9".repeat(30)}.${parts().mac}`,
      "a counter with a zero in front": () => `${parts().family}.0${parts().counter}.${parts().mac}`,
      "a negative counter": () => `${parts().family}.-1.${parts().mac}`,
      "another family": () => `${randomBytes(16).toString("base64url")}.${parts().counter}.${parts().mac}`,
      "a made-up MAC": () => `${parts().family}.${parts().counter}.${randomBytes(32).toString("base64url")}`,
      "one bit of the MAC": () => session.refreshToken.replace(/.(.{10})$/, (_, rest) => flip(session, rest)),
      "an end cut off": () => session.refreshToken.slice(0, -1),
      "a beginning cut off": () => session.refreshToken.slice(1),
      "something at its end": () => `${session.refreshToken}.`,
      "a line break at its end": () => `${session.refreshToken}\n`,
      "a space before it": () => ` ${session.refreshToken}`,
      "padding at its end": () => `${session.refreshToken}=`,
      "no MAC": () => `${parts().family}.${parts().counter}.`,
      "dots alone": () => "..",
      "a family of SQL": () => `' or 1=1 --aaaaaaaaaaaa.0.${parts().mac}`,
      "letters that look alike": () => session.refreshToken.replace(/[a-z]/, "\u0430"),
    };
    test.each(Object.entries(forgeries))("a refresh token with %s is refused", async (_, forge) => {
      expect(forge()).not.toBe(session.refreshToken);
      await refused(session, { refreshToken: forge() });
    });

    test("another tenant's name refuses it, in the body, in the header and by the host", async () => {
      const { refreshToken } = session;
      await refused(session, { refreshToken, tenantId: "other" });
      await refused(session, { refreshToken }, { "x-tenant-id": "other" });
      await refused(session, { refreshToken, tenantId: "nowhere" });
      const answer = await deployment.node.api.call(routes.refresh, {
        body: { refreshToken, tenantId: "demo" },
        headers: { "x-tenant-id": "demo" },
        ...proving(session),
      });
      expect(answer.status, answer.text).toBe(200);
    });
  });

  test("no kind of token does the work of another", async () => {
    const session = await deployment.signIn();
    const { key, token, refreshToken, deviceToken } = session;
    if (!key) throw new Error("The session should be bound.");
    const before = await deployment.row(session);
    const { api } = deployment.node;
    const proof = await key.proof({ htm: "POST", htu: `${publicUrl}${routes.refresh.path}` });

    for (const [name, notBearer] of Object.entries({ refreshToken, deviceToken, proof })) {
      for (const route of [routes.checkToken, routes.me]) {
        const answer = await api.call(route, { token: notBearer });
        expect([answer.status, answer.body.code], `${name} as Bearer at ${route.path}`).toEqual([401, "invalid_token"]);
      }
      const stored = await api.call(routes.checkStoredToken, { body: { token: notBearer } });
      expect([stored.status, stored.body.code], `${name} as stored token`).toEqual([401, "invalid_token"]);
      const logout = await api.logout({ token: notBearer });
      expect([logout.status, logout.body?.code], `${name} as Bearer at logout`).toEqual([401, "invalid_token"]);
    }
    for (const [name, notRefresh] of Object.entries({ token, deviceToken, proof, sid: session.sid })) {
      const answer = await api.refresh(notRefresh, { key });
      // An access token is longer than any refresh token, which the schema says first.
      expect([400, 401], `${name} as refresh token`).toContain(answer.status);
      expect(["invalid_grant", "invalid_request"]).toContain(answer.body.code);
      await api.logout({ body: { refreshToken: notRefresh } });
    }
    for (const [name, notProof] of Object.entries({ token, refreshToken, deviceToken })) {
      const answer = await api.refresh(refreshToken, { headers: { dpop: notProof } });
      expect([answer.status, answer.body.code], `${name} as proof`).toEqual([400, "invalid_dpop_proof"]);
    }
    for (const [name, notDevice] of Object.entries({ token, refreshToken, proof })) {
      const answer = await api.login(
        { username: session.username, password: "not the password at all" },
        { headers: { "x-device-token": notDevice } },
      );
      expect([answer.status, answer.body.code], `${name} as device token`).toEqual([401, "invalid_credentials"]);
    }
    expect(await deployment.row(session)).toEqual(before);
    expect((await api.checkToken(token)).status).toBe(200);
  });

  test("a session's key proves nothing for another session", async () => {
    const [mine, theirs] = [await deployment.signIn(), await deployment.signIn()];
    const before = await deployment.row(theirs);
    for (const key of [mine.key, await DpopKey.create()]) {
      const answer = await deployment.node.api.refresh(theirs.refreshToken, { ...(key && { key }) });
      expect([answer.status, answer.body.code]).toEqual([400, "invalid_dpop_proof"]);
    }
    expect(await deployment.row(theirs)).toEqual(before);
  });
});

/** The MAC with one letter changed, ten letters before its end. */
function flip({ refreshToken }: SignedIn, rest: string): string {
  const letter = refreshToken.at(-11);
  return `${letter === "A" ? "B" : "A"}${rest}`;
}
