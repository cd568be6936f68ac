import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Problem, Session } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { updateTenant } from "../../src/people/tenants.ts";
import { addWorker, disableWorker, setPassword, type Worker } from "../../src/people/workers.ts";
import { listSessions } from "../../src/store/sessions.ts";
import type { Queries } from "../../src/store/store.ts";
import type { Answer } from "../kit/api-client.ts";
import { databases } from "../kit/databases.ts";
import { DpopKey } from "../kit/dpop-key.ts";
import { goodPassword } from "../kit/node.ts";
import { type Deployment, deploy, nodeAt } from "./deployment.ts";

const races = Number(process.env.FIELDGATE_RUNS ?? 12);
const rules = { loopbackHttp: true };

describe.each(databases)("a sign-in under way when access is taken away, on $name", (database) => {
  let deployment: Deployment;
  let key: DpopKey;
  let passwordHash: string;
  let otherHash: string;
  beforeAll(async () => {
    deployment = await deploy(database, { nodes: 2 });
    key = await DpopKey.create();
    const { hasher } = deployment.node.app.services;
    [passwordHash, otherHash] = await Promise.all([
      hasher.hash(goodPassword),
      hasher.hash("granite-lantern-sixty-four"),
    ]);
  });
  afterAll(() => deployment?.close());

  const ways: Record<string, (tx: Queries, worker: Worker) => Promise<unknown>> = {
    "the worker is disabled": disableWorker,
    "the password changes": (tx, worker) => setPassword(tx, worker, otherHash),
    "the tenant is disabled": (tx, worker) => updateTenant(tx, worker.tenantId, { disabled: true }, rules),
  };

  async function newWorker(): Promise<Worker> {
    const tenantId = `t-${randomUUID()}`;
    await deployment.node.addTenant(tenantId);
    return deployment.change((tx) =>
      addWorker(tx, { tenantId, username: "amina", passwordHash, roles: ["field-worker"] }),
    );
  }
  const login = ({ tenantId }: Worker, place = 0) =>
    nodeAt(deployment.nodes, place).api.login({ username: "amina", password: goodPassword, tenantId }, { key });

  /** Whatever the answer was, nothing of it is good for anything now. */
  async function nothingLives({ tenantId, id: userId }: Worker, answer: Answer<Session & Problem>): Promise<void> {
    expect(await listSessions(deployment.store, { tenantId, userId })).toEqual([]);
    expect([200, 401], answer.text).toContain(answer.status);
    if (answer.status === 401) expect(answer.body.code).toBe("invalid_credentials");
    else expect((await deployment.node.api.refresh(answer.body.refreshToken, { key })).status).toBe(401);
  }

  test.each(Object.entries(ways))("leaves nothing behind when %s in the very middle of it", async (_, takeAway) => {
    const worker = await newWorker();
    const answer = await deployment.change(async (tx) => {
      await takeAway(tx, worker);
      // The change is made and not yet committed: the sign-in finds the old state, and must not end in it.
      const answer = login(worker);
      await sleep(250);
      return { answer };
    });
    const signedIn = await answer.answer;
    expect([signedIn.status, signedIn.body.code]).toEqual([401, "invalid_credentials"]);
    await nothingLives(worker, signedIn);
  });

  test.each(Object.entries(ways))(
    `leaves nothing behind when %s at any moment, in ${races} races`,
    async (_, takeAway) => {
      let longest = 60;
      for (let round = 0; round < races; round += 4) {
        await Promise.all(
          Array.from({ length: 4 }, async (_, place) => {
            const worker = await newWorker();
            const begun = performance.now();
            const answering = login(worker, place % 2).finally(() => {
              longest = Math.max(longest, performance.now() - begun);
            });
            await sleep(Math.random() * longest);
            await deployment.change((tx) => takeAway(tx, worker));
            await nothingLives(worker, await answering);
          }),
        );
      }
    },
    20_000 + races * 1000,
  );
});
