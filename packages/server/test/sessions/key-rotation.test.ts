import { setTimeout as sleep } from "node:timers/promises";
import { type JsonWebKeySet, routes } from "@fieldgate/contract";
import { decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createKeyVault } from "../../src/tokens/key-vault.ts";
import { type RotatingPurpose, rotateKey } from "../../src/tokens/keys.ts";
import { databases } from "../kit/databases.ts";
import { nodeAt as at, type Deployment, deploy, proving, type SignedIn } from "./deployment.ts";

const hour = 3600;
const kidOf = (token: string) => decodeProtectedHeader(token).kid;

describe.each(databases)("keys that rotate under load, on $name", (database) => {
  let deployment: Deployment;
  let sessions: SignedIn[];
  beforeAll(async () => {
    deployment = await deploy(database, { nodes: 2 });
    await deployment.node.addWorker({ username: "amina" });
    sessions = await Promise.all(
      Array.from({ length: 6 }, (_, index) => deployment.signIn({ username: "amina", bound: index % 2 === 0 })),
    );
  });
  afterAll(() => deployment?.close());

  const rotate = (purpose: RotatingPurpose, leadSeconds: number) => {
    const { config } = deployment.node;
    return rotateKey(deployment.store, createKeyVault(config.secret, null), purpose, { leadSeconds });
  };
  const published = async (place: number) => {
    const { body } = await at(deployment.nodes, place).api.call<JsonWebKeySet>(routes.jwks);
    return body.keys.map(({ kid }) => kid);
  };

  test("no request fails; the next key is published before it signs, and the old one stays", async () => {
    const leadSeconds = 2;
    const [old = ""] = await published(0);
    const answers: string[] = [];
    const firstUse = new Map<string, number>();
    let stop = false;

    /** Refreshes on one node, and shows each new token to both at once. */
    async function work(session: SignedIn, place: number): Promise<void> {
      let current: Pick<SignedIn, "token" | "refreshToken"> = session;
      while (!stop) {
        const refreshed = await at(deployment.nodes, place).api.refresh(current.refreshToken, proving(session));
        answers.push(`refresh ${refreshed.status} ${refreshed.body.code ?? ""}`);
        if (refreshed.status !== 200) return;
        current = refreshed.body;
        const kid = kidOf(current.token) ?? "";
        if (!firstUse.has(kid)) firstUse.set(kid, performance.now());
        const checks = await Promise.all(
          deployment.nodes.flatMap(({ api }) => [api.checkToken(current.token), api.checkToken(session.token)]),
        );
        for (const { status, body } of checks) answers.push(`check ${status} ${body.code ?? ""}`);
      }
    }

    const working = Promise.all(sessions.map((session, index) => work(session, index % 2)));
    await sleep(300);
    const rotatedAt = performance.now();
    const [next] = await Promise.all([rotate("access", leadSeconds), rotate("refresh", leadSeconds)]);
    const seenAt: number[] = [];
    for (const place of [0, 1]) {
      while (!(await published(place)).includes(next.id)) await sleep(20);
      seenAt.push(performance.now());
    }
    await sleep(leadSeconds * 1000 + 700);
    stop = true;
    await working;

    expect(new Set(answers)).toEqual(new Set(["refresh 200 ", "check 200 "]));
    expect(answers.length).toBeGreaterThan(60);
    expect([...firstUse.keys()]).toEqual([old, next.id]);
    const used = firstUse.get(next.id) ?? 0;
    expect(used - rotatedAt, "the next key waits for its time").toBeGreaterThan(leadSeconds * 1000 - 50);
    for (const seen of seenAt) expect(seen, "every node publishes it before one uses it").toBeLessThan(used);
    for (const place of [0, 1]) expect((await published(place)).toSorted()).toEqual([old, next.id].toSorted());
  });

  test("new sessions have the new key of refresh tokens, and every node knows it", async () => {
    const { refresh_key_id: old } = await deployment.row(sessions[0] as SignedIn);
    const session = await deployment.signIn({ username: "amina" });
    expect((await deployment.row(session)).refresh_key_id).not.toBe(old);
    expect((await at(deployment.nodes, 1).api.refresh(session.refreshToken, proving(session))).status).toBe(200);
  });

  test("the old key goes when nothing it signed can be alive, and not before", async () => {
    const [old = "", next] = await published(0);
    deployment.clock.advance(2 * hour);
    for (const place of [0, 1]) await at(deployment.nodes, place).app.services.keyring.reload();
    expect(await published(1)).toContain(old);
    deployment.clock.advance(2 * hour);
    for (const place of [0, 1]) await at(deployment.nodes, place).app.services.keyring.reload();
    for (const place of [0, 1]) expect(await published(place)).toEqual([next]);
  });
});
