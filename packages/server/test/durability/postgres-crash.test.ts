import { setTimeout as sleep } from "node:timers/promises";
import { type Problem, routes } from "@fieldgate/contract";
import { expect, test } from "vitest";
import type { Answer } from "../kit/api-client.ts";
import { goodPassword } from "../kit/node.ts";
import { startPostgres } from "../kit/postgres-server.ts";
import { deploy, proving, type SignedIn } from "../sessions/deployment.ts";

const counterOf = (refreshToken: string) => Number(refreshToken.split(".")[1]);

test("a database that crashes under load is a 503 and never a 401, and comes back with everything it said", async ({
  onTestFinished,
}) => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  await server.run("create database fieldgate");
  const config = { kind: "postgres", url: server.url("fieldgate"), poolSize: 5 } as const;
  const deployment = await deploy({
    name: "postgres",
    fresh: async () => ({ config, drop: async () => {} }),
  });
  onTestFinished(() => deployment.close());
  const { api } = deployment.node;
  await deployment.node.addWorker({ username: "amina" });
  const sessions = await Promise.all(
    Array.from({ length: 5 }, (_, index) => deployment.signIn({ username: "amina", bound: index > 0 })),
  );
  const seen = sessions[0] as SignedIn;
  expect((await api.checkToken(seen.token)).status).toBe(200);

  function unavailable(answer: Answer<unknown>): void {
    expect([answer.status, (answer.body as Problem).code], answer.text).toEqual([503, "unavailable"]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  }

  let stop = false;
  const told = sessions.map(({ token, refreshToken }) => ({ token, refreshToken, succeededAt: 0 }));
  /** Refreshes without a pause; what is unavailable is asked again with the token it has. */
  async function work(session: SignedIn, index: number): Promise<void> {
    while (!stop) {
      const answer = await api.refresh(told[index]?.refreshToken ?? "", proving(session));
      if (answer.status === 200) told[index] = { ...answer.body, succeededAt: performance.now() };
      else unavailable(answer);
      await sleep(answer.status === 200 ? 1 : 50);
    }
  }

  const working = Promise.all(sessions.map(work));
  await sleep(400);
  await server.crash();
  // Longer than a node may answer from memory alone.
  await sleep(4500);
  unavailable(await api.checkToken(seen.token));
  unavailable(await api.me(seen.token));
  unavailable(await api.login({ username: "amina", password: goodPassword }));
  unavailable(await api.logout({ token: seen.token }));
  unavailable(await api.call(routes.ready));
  await server.restart();
  const restartedAt = performance.now();
  while (told.some(({ succeededAt }) => succeededAt < restartedAt)) {
    expect(performance.now() - restartedAt, "everyone goes on with what they have, and soon").toBeLessThan(10_000);
    await Promise.race([sleep(50), working]);
  }
  stop = true;
  await working;

  for (const [index, { token, refreshToken }] of told.entries()) {
    expect((await api.checkToken(token)).status).toBe(200);
    const row = await deployment.row(sessions[index] as SignedIn);
    expect(row).toMatchObject({ counter: counterOf(refreshToken), revoked_at: null });
  }
  expect((await api.login({ username: "amina", password: goodPassword })).status).toBe(200);
}, 60_000);
