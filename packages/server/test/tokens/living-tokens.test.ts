import type { KeyObject } from "node:crypto";
import type { AddressInfo } from "node:net";
import { routes } from "@fieldgate/contract";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { longestAccessSeconds } from "../../src/config/policy.ts";
import { createKeyVault } from "../../src/tokens/key-vault.ts";
import { rotateKey } from "../../src/tokens/keys.ts";
import { MovableClock } from "../kit/clock.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import { goodPassword, startNode, type TestNode } from "../kit/node.ts";
import { demandRefusal, demandWelcome, showEverywhere } from "./every-check.ts";
import { compact, es256, openSigningKey, takeApart } from "./forge.ts";

describe.each(databases)("JWT1: a token lives as long as its time and its session, on $name", ({ fresh }) => {
  let node: TestNode;
  let database: FreshDatabase;
  let clock: MovableClock;

  beforeEach(async () => {
    database = await fresh();
    clock = new MovableClock();
    node = await startNode({ database: database.config, clock });
    await node.addTenant("demo");
    await node.addTenant("other");
    await node.addWorker({ username: "amina" });
  });
  afterEach(async () => {
    await node?.close();
    await database?.drop();
  });

  const signIn = async () => (await node.api.login({ username: "amina", password: goodPassword })).body;
  const now = () => Math.floor(clock.now() / 1000);

  test("a remembered token ends at the second it says, without the clocks' tolerance", async () => {
    const { token, expiresIn } = await signIn();
    await demandWelcome(node, token);
    const { claims } = takeApart(token);
    expect(Number(claims.exp) - Number(claims.iat)).toBe(expiresIn);

    clock.advance(expiresIn - 5);
    await demandWelcome(node, token);
    const left = (await node.api.checkToken(token)).body.expiresIn;
    expect(left).toBeGreaterThanOrEqual(0);
    expect(left).toBeLessThanOrEqual(5);
    clock.advance(6);
    await demandRefusal(node, token);
    clock.advance(3600);
    await demandRefusal(node, token);
  });

  test("a token that this node never saw ends at the same second", async () => {
    const { token, expiresIn } = await signIn();
    clock.advance(expiresIn + 1);
    await demandRefusal(node, token);
  });

  test("an ended session takes every token of it along, remembered or not", async () => {
    const { token, refreshToken } = await signIn();
    const younger = (await node.api.refresh(refreshToken)).body.token;
    const kept = (await signIn()).token;
    await demandWelcome(node, token, kept);
    expect((await node.api.logout({ token: younger })).status).toBe(204);
    for (const gone of [token, younger]) {
      for (const [way, answer] of await showEverywhere(node, gone)) {
        expect([answer.status, (answer.body as { code: string }).code], way).toEqual([401, "session_revoked"]);
      }
    }
    await demandWelcome(node, kept);
  });

  test("a node that never heard of the token refuses it when its session has ended elsewhere", async () => {
    const second = await startNode({
      database: database.config,
      clock,
      config: { baseUrl: node.url, audience: node.url, listen: { host: "127.0.0.1", port: 0 } },
    });
    try {
      const [address] = second.app.http.addresses() as [AddressInfo];
      const there = `http://127.0.0.1:${address.port}${routes.checkToken.path}`;
      const look = async (token: string) =>
        (await fetch(there, { headers: { authorization: `Bearer ${token}` } })).status;
      const { token } = await signIn();
      const { token: unseen } = await signIn();
      expect(await look(token)).toBe(200);
      for (const each of [token, unseen]) await node.api.logout({ token: each });
      expect(await look(unseen)).toBe(401);
      await expect.poll(() => look(token), { timeout: 5000 }).toBe(401);
    } finally {
      await second.close();
    }
  });

  test("good claims of the wrong session, person or tenant are no token, though our key signed them", async () => {
    const { token } = await signIn();
    const { header, claims } = takeApart(token);
    const ours = es256(await openSigningKey(node, String(header.kid)));
    await demandWelcome(node, compact(header, { ...claims, jti: "again" }, ours));
    const wrong = [{ sid: "AAAAAAAAAAAAAAAAAAAAAA" }, { tenantId: "other" }, { sub: "someone-else" }];
    await demandRefusal(node, ...wrong.map((change) => compact(header, { ...claims, ...change }, ours)));
  });

  test("a retired key is good for the tokens it signed, and for nothing once they are gone", async () => {
    const { token } = await signIn();
    const { header, claims } = takeApart(token);
    const oldKey = await openSigningKey(node, String(header.kid));
    const forged = (key: KeyObject) =>
      compact(header, { ...claims, iat: now(), nbf: now(), exp: now() + 600, jti: `${Math.random()}` }, es256(key));
    const { store, keyring, config } = node.app.services;
    await rotateKey(store, createKeyVault(config.secret), "access", { leadSeconds: 0 });
    await keyring.reload();

    const { token: next } = await signIn();
    expect(takeApart(next).header.kid).not.toBe(header.kid);
    await demandWelcome(node, token, next);
    await demandWelcome(node, forged(oldKey));

    clock.advance(longestAccessSeconds + 3600 + 5);
    await keyring.reload();
    await demandRefusal(node, forged(oldKey));
    await demandWelcome(node, (await signIn()).token);
    expect(JSON.stringify(keyring.jwks())).not.toContain(String(header.kid));
  });
});
