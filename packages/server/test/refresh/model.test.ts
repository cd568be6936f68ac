import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { databases } from "../kit/databases.ts";
import { type Deployment, deploy } from "../sessions/deployment.ts";
import { command } from "./model/commands.ts";
import { World } from "./model/world.ts";

/** A short walk each time; `FIELDGATE_RUNS=2000` takes a long one. */
const runs = Number(process.env.FIELDGATE_RUNS ?? 12);

describe.each(databases)("the refresh protocol, as a model, on $name", (database) => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await deploy(database, { nodes: 2 });
    await deployment.node.addWorker({ username: "amina" });
  });
  afterAll(() => deployment?.close());

  test(
    `nobody honest is logged out, and nobody else gets in, in ${runs} walks`,
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 40, size: "max" }), async (commands) => {
          const world = await World.begin(deployment, "amina");
          for (const each of commands) {
            await world.run(each);
            await world.check();
          }
          await world.conclude();
        }),
        // Whatever has failed by then is told, in the shortest form that was found.
        { numRuns: runs, interruptAfterTimeLimit: 15_000 + runs * 1500 },
      );
    },
    25_000 + runs * 1500,
  );
});
