import { setTimeout as sleep } from "node:timers/promises";
import { type Problem, type Route, routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createKeyVault } from "../../src/tokens/key-vault.ts";
import { rotateKey } from "../../src/tokens/keys.ts";
import type { Answer } from "../kit/api-client.ts";
import { databases } from "../kit/databases.ts";
import { goodPassword, startNode, type TestNode } from "../kit/node.ts";
import { type CuttableLine, openCuttableLine } from "./cuttable-line.ts";
import { type Deployment, deploy, proving, publicUrl, type SignedIn } from "./deployment.ts";

const postgres = databases.filter(({ name }) => name === "postgres");

/** One node hears the database, the other does not: the second must never guess. */
describe.each(postgres)("a node that is cut off from $name", (database) => {
  let deployment: Deployment;
  let bystander: SignedIn;
  const closing: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    deployment = await deploy(database);
    await deployment.node.addWorker({ username: "amina" });
    bystander = await signIn();
  });
  afterAll(async () => {
    await Promise.all(closing.map((close) => close()));
    await deployment?.close();
  });

  const signIn = () => deployment.signIn({ username: "amina" });

  /** A node with a line of its own to the database. */
  async function startLonely(): Promise<{ line: CuttableLine; lonely: TestNode; close: () => Promise<void> }> {
    const { config } = deployment.database;
    if (config.kind !== "postgres") throw new Error("This is about PostgreSQL.");
    const line = await openCuttableLine(config.url);
    const lonely = await startNode({
      database: { ...config, url: line.url },
      clock: deployment.clock,
      config: { baseUrl: publicUrl, audience: publicUrl },
    });
    let closed: Promise<void> | undefined;
    const close = () => {
      closed ??= lonely.close().then(() => line.close());
      return closed;
    };
    closing.push(close);
    return { line, lonely, close };
  }

  function unavailable(answer: Answer<unknown>): void {
    expect([answer.status, (answer.body as Problem).code]).toEqual([503, "unavailable"]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  }

  /** Asks until the answer is no 503. */
  async function recovered<A extends Answer<unknown>>(ask: () => Promise<A>): Promise<{ answer: A; afterMs: number }> {
    const start = performance.now();
    for (;;) {
      const answer = await ask();
      if (answer.status !== 503) return { answer, afterMs: performance.now() - start };
      unavailable(answer);
      await sleep(50);
    }
  }

  test.concurrent.each(["hang", "cut"] as const)(
    "(%s) honours no ended session 5 s later, says 503, and comes back",
    async (how) => {
      const { line, lonely, close } = await startLonely();
      const check = (token: string) => lonely.api.checkToken(token);
      const session = await signIn();
      for (const { token } of [session, bystander]) expect((await check(token)).status).toBe(200);

      line[how]();
      expect((await deployment.node.api.logout({ token: session.token })).status).toBe(204);
      const endedAt = performance.now();
      const answers: { readonly status: number; readonly afterMs: number; readonly tookMs: number }[] = [];
      while (performance.now() - endedAt < 5600) {
        const asked = performance.now();
        const answer = await check(session.token);
        answers.push({
          status: answer.status,
          afterMs: performance.now() - endedAt,
          tookMs: performance.now() - asked,
        });
        if (answer.status !== 200) unavailable(answer);
        await sleep(100);
      }
      expect(answers.some(({ status, afterMs }) => status === 200 && afterMs > 5000)).toBe(false);
      expect(answers.at(-1)?.status).toBe(503);
      unavailable(await check(bystander.token));
      expect(Math.max(...answers.map(({ tookMs }) => tookMs)), "nobody waits for ever").toBeLessThan(10_000);

      line.mend();
      const { answer, afterMs } = await recovered(() => check(bystander.token));
      expect(answer.status, "a 401 would sign everyone out").toBe(200);
      expect(afterMs).toBeLessThan(8000);
      expect((await check(session.token)).body.code).toBe("session_revoked");

      line[how]();
      const closingAt = performance.now();
      await close();
      expect(performance.now() - closingAt, "it can be shut down").toBeLessThan(12_000);
    },
  );

  test("answers every question with 503 and a time to come back, and nobody is signed out by it", async () => {
    const { line, lonely } = await startLonely();
    const check = (token: string) => lonely.api.checkToken(token);
    const seen = await signIn();
    const unseen = await signIn();
    const plain = await deployment.signIn({ username: "amina", bound: false });
    expect((await check(seen.token)).status).toBe(200);
    const before = await deployment.row(unseen);
    line.cut();

    const bearer = (route: Route, token: string) => lonely.api.call(route, { token });
    unavailable(await bearer(routes.checkToken, unseen.token));
    unavailable(await lonely.api.call(routes.checkStoredToken, { body: { token: unseen.token } }));
    for (const { token } of [seen, unseen]) unavailable(await bearer(routes.me, token));
    for (const session of [unseen, plain]) {
      unavailable(await lonely.api.refresh(session.refreshToken, proving(session)));
      unavailable(await lonely.api.logout({ body: { refreshToken: session.refreshToken } }));
    }
    unavailable(await lonely.api.login({ username: "amina", password: goodPassword }));
    unavailable(await lonely.api.login({ username: "amina", password: "not the password at all" }));
    unavailable(await lonely.api.call(routes.ready));
    expect((await lonely.api.call(routes.health)).status).toBe(200);
    expect(await deployment.row(unseen)).toEqual(before);

    line.mend();
    const { answer, afterMs } = await recovered(() => lonely.api.refresh(unseen.refreshToken, proving(unseen)));
    expect(answer.status).toBe(200);
    expect(afterMs).toBeLessThan(3000);
    expect((await recovered(() => lonely.api.refresh(plain.refreshToken))).answer.status).toBe(200);
    for (const { token } of [seen, unseen]) expect((await recovered(() => check(token))).answer.status).toBe(200);
    expect((await recovered(() => lonely.api.login({ username: "amina", password: goodPassword }))).answer.status).toBe(
      200,
    );
  });

  test("does not call a token bad whose key it could not hear of", async () => {
    const { line, lonely } = await startLonely();
    const check = (token: string) => lonely.api.checkToken(token);
    line.cut();
    await rotateKey(deployment.store, createKeyVault(deployment.node.config.secret, null), "access", {
      leadSeconds: 1,
    });
    await sleep(2500);
    const session = await signIn();
    unavailable(await check(session.token));
    line.mend();
    const { answer, afterMs } = await recovered(() => check(session.token));
    expect(answer.status, answer.text).toBe(200);
    expect(afterMs).toBeLessThan(3000);
  });
});
