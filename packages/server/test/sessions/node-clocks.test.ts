import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Clock } from "../../src/clock.ts";
import { databases } from "../kit/databases.ts";
import { goodPassword, startNode, type TestNode } from "../kit/node.ts";
import { type Deployment, deploy, publicUrl } from "./deployment.ts";
import { refusedOnEveryNode } from "./refused-on-every-node.ts";

const hour = 3_600_000;

/** The clock of a machine that is wrong; the database's is right. */
const wrongClock = (by: number): Clock => ({
  now: () => Date.now() + by,
  monotonic: () => performance.now(),
  offset: 0,
});

describe.each(databases)("a node whose own clock is wrong, on $name", (database) => {
  let deployment: Deployment;
  const strays: TestNode[] = [];
  beforeAll(async () => {
    deployment = await deploy(database);
    await deployment.node.addWorker({ username: "amina" });
  });
  afterAll(async () => {
    for (const stray of strays) await stray.close();
    await deployment?.close();
  });

  test.each([-3 * hour, 3 * hour])("by %i ms learns all the same that a session was ended", async (by) => {
    const stray = await startNode({
      database: deployment.database.config,
      clock: wrongClock(by),
      config: { baseUrl: publicUrl, audience: publicUrl },
    });
    strays.push(stray);
    const signedIn = await stray.api.login({ username: "amina", password: goodPassword });
    expect(signedIn.status, signedIn.text).toBe(200);
    const { token, refreshToken } = signedIn.body;
    expect((await stray.api.checkToken(token)).status).toBe(200);

    expect((await deployment.node.api.logout({ body: { refreshToken } })).status).toBe(204);
    await refusedOnEveryNode({ ...deployment, nodes: [stray] }, [{ token }]);
  });
});
