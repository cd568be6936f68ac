import { type JsonWebKeySet, routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keyPurposes, listKeys } from "../../src/tokens/keys.ts";
import { databases } from "../kit/databases.ts";
import { goodPassword } from "../kit/node.ts";
import { type Deployment, deploy, nodeAt, proving, type SignedIn } from "./deployment.ts";
import { refusedOnEveryNode } from "./refused-on-every-node.ts";

describe.each(databases)("three nodes that start at once on an empty database, on $name", (database) => {
  let deployment: Deployment;
  beforeAll(async () => {
    const empty = { ...database, fresh: () => database.fresh({ empty: true }) };
    deployment = await deploy(empty, { nodes: 0, config: { trustedProxies: ["127.0.0.1"] } });
    await Promise.all(Array.from({ length: 3 }, () => deployment.startNode()));
    await deployment.node.addTenant("demo");
  });
  afterAll(() => deployment?.close());

  const jwks = async (place: number) =>
    (await nodeAt(deployment.nodes, place).api.call<JsonWebKeySet>(routes.jwks)).body;

  test("make each key once, and publish the same", async () => {
    const keys = await listKeys(deployment.store);
    expect(keys.map(({ purpose }) => purpose).toSorted()).toEqual([...keyPurposes].toSorted());
    expect((await jwks(0)).keys).toHaveLength(1);
    expect([await jwks(1), await jwks(2)]).toEqual([await jwks(0), await jwks(0)]);
  });

  test("honour one session, one family of refresh tokens, one logout", async () => {
    const session = await deployment.signIn({ on: nodeAt(deployment.nodes, 0) });
    let current: Pick<SignedIn, "token" | "refreshToken"> = session;
    for (const place of [1, 2, 0, 1]) {
      const { api } = nodeAt(deployment.nodes, place);
      const refreshed = await api.refresh(current.refreshToken, proving(session));
      expect(refreshed.status, refreshed.text).toBe(200);
      current = refreshed.body;
      for (const other of deployment.nodes) {
        expect((await other.api.checkToken(current.token)).status).toBe(200);
        expect((await other.api.me(current.token)).body.username).toBe(session.username);
      }
    }
    expect((await nodeAt(deployment.nodes, 2).api.logout({ token: current.token })).status).toBe(204);
    for (const { api } of deployment.nodes) {
      expect((await api.refresh(current.refreshToken, proving(session))).body.code).toBe("session_revoked");
    }
    await refusedOnEveryNode(deployment, [session, current]);
  });

  test("know a device of each other's", async () => {
    const { username, deviceToken } = await deployment.signIn({ on: nodeAt(deployment.nodes, 1) });
    const again = await nodeAt(deployment.nodes, 2).api.login(
      { username, password: goodPassword },
      { headers: { "x-device-token": deviceToken } },
    );
    expect(again.body.deviceToken).toBe(deviceToken);
  });

  test("share one budget: ten failures, wherever they were, lock a user everywhere, also after a restart", async () => {
    const { username, deviceToken } = await deployment.signIn();
    const attempt = (place: number, password: string, headers: Record<string, string> = {}) =>
      nodeAt(deployment.nodes, place % 3).api.login(
        { username, password },
        { headers: { "x-forwarded-for": `192.0.2.${place}`, ...headers } },
      );
    for (let tries = 0; tries < 10; tries += 1) {
      expect((await attempt(tries, "not the password at all")).body.code).toBe("invalid_credentials");
    }
    const locked = async (place: number) => {
      const refusal = await attempt(place, goodPassword);
      expect([refusal.status, refusal.body.code]).toEqual([429, "too_many_attempts"]);
      expect(Number(refusal.headers.get("retry-after"))).toBeGreaterThan(20);
    };
    for (const place of [20, 21, 22]) await locked(place);
    await deployment.restart(nodeAt(deployment.nodes, 1));
    await locked(31);
    expect((await attempt(31, goodPassword, { "x-device-token": deviceToken })).status).toBe(200);
  });

  test("let no more guesses through when they come all at once", async () => {
    const { username } = await deployment.signIn();
    const answers = await Promise.all(
      Array.from({ length: 36 }, (_, index) =>
        nodeAt(deployment.nodes, index % 3).api.login(
          { username, password: `guess number ${index} of many` },
          { headers: { "x-forwarded-for": `198.51.100.${index}` } },
        ),
      ),
    );
    const compared = answers.filter(({ status }) => status === 401);
    expect(compared).toHaveLength(10);
    for (const { status, text } of answers) expect([401, 429], text).toContain(status);
  });
});
